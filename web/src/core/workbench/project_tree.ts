/** The files of a project as a tree whose folders are closed at first, and links to an editor. Pure. */

export interface ProjectRow {
  /** The path; that of a folder ends with a slash. */
  readonly path: string;
  readonly name: string;
  readonly depth: number;
  readonly folder: boolean;
}

export interface ProjectFolder {
  readonly folders: Map<string, ProjectFolder>;
  readonly files: string[];
}

export interface FilesAnswer {
  /** The session's folder. */
  readonly folder: string;
  readonly files: readonly string[];
  /** False if there are more files than are listed. */
  readonly whole: boolean;
}

export interface GrepAnswer {
  readonly matches: readonly { readonly id: string; readonly path: string; readonly line: number; readonly text: string }[];
  readonly whole: boolean;
  /** What searched: ripgrep, or walk. */
  readonly by: string;
}

export function projectTree(paths: readonly string[]): ProjectFolder {
  const root: ProjectFolder = { folders: new Map(), files: [] };
  for (const path of paths) {
    const parts = path.split("/");
    let at = root;
    for (const part of parts.slice(0, -1)) {
      let next = at.folders.get(part);
      if (!next) at.folders.set(part, (next = { folders: new Map(), files: [] }));
      at = next;
    }
    at.files.push(parts.at(-1) ?? "");
  }
  return root;
}

/** The rows of the open folders. */
export function projectRows(tree: ProjectFolder, open: ReadonlySet<string>, prefix = "", depth = 0): readonly ProjectRow[] {
  const rows: ProjectRow[] = [];
  for (const name of [...tree.folders.keys()].sort()) {
    const path = `${prefix}${name}/`;
    rows.push({ path, name, depth, folder: true });
    const inner = tree.folders.get(name);
    if (inner && open.has(path)) rows.push(...projectRows(inner, open, path, depth + 1));
  }
  for (const name of [...tree.files].sort()) rows.push({ path: prefix + name, name, depth, folder: false });
  return rows;
}

/** The folders that contain a path, so that they can be opened. */
export function foldersOf(path: string): readonly string[] {
  const parts = path.split("/").slice(0, -1);
  return parts.map((_, at) => `${parts.slice(0, at + 1).join("/")}/`);
}

const SCRIPTS = ["javascript", "data", "blob", "vbscript", "file", "about"];

/** Whether a template leads to an editor: an address with a scheme that runs nothing in the browser. */
export function isEditorTemplate(template: string): boolean {
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(template)?.[1]?.toLowerCase();
  return scheme !== undefined && !SCRIPTS.includes(scheme) && template.includes("{path}");
}

/** The address that opens a file in the user's editor; null without a usable template. */
export function editorAddress(template: string, path: string, line: number): string | null {
  if (!isEditorTemplate(template)) return null;
  const encoded = path.split("/").map(encodeURIComponent).join("/");
  return template.replaceAll("{path}", () => encoded).replaceAll("{line}", String(line));
}
