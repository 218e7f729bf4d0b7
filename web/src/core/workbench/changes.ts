/** The changes of a session's working tree: what the server answers, and the rows of their tree. Pure. */

export type ChangeKind = "added" | "copied" | "deleted" | "modified" | "renamed" | "type_changed" | "conflicted" | "untracked";

export interface ChangedFile {
  /** Names the file in requests; not every file name can stand in an address. */
  readonly id: string;
  readonly path: string;
  readonly kind: ChangeKind;
  readonly old_id?: string;
  readonly old_path?: string;
  /** Lines; absent for binary files and where they were not counted. */
  readonly added?: number;
  readonly removed?: number;
  readonly binary?: boolean;
  readonly submodule?: boolean;
  readonly mode_changed?: boolean;
}

export interface ChangesAnswer {
  /** False: the folder is not in a git repository, and nothing else is known. */
  readonly repository: boolean;
  readonly branch: string | null;
  readonly commit: string | null;
  readonly upstream: string | null;
  readonly ahead: number;
  readonly behind: number;
  readonly base: string;
  readonly start: string | null;
  readonly branches: readonly string[];
  readonly files: readonly ChangedFile[];
  readonly total: number;
  readonly folded: boolean;
  readonly below: string;
}

export interface PatchAnswer {
  /** In the form of the CLI's own patches. */
  readonly hunks: readonly unknown[];
  readonly binary: boolean;
  readonly cut: boolean;
  /** Bytes of a file that is very large; 0 for any other file. */
  readonly size: number;
}

/** A part of a text file. */
export interface ContentAnswer {
  readonly path: string;
  readonly size: number;
  readonly first: number;
  readonly lines: readonly string[];
  readonly total: number;
  readonly binary: boolean;
  readonly image: boolean;
  readonly cut: boolean;
}

/** Whether a file is named like an image that browsers draw and the server sends. */
export function isImage(path: string): boolean {
  return /\.(png|jpe?g|gif|webp)$/i.test(path);
}

/** A row of the tree: a folder, or a file in it. */
export interface TreeRow {
  readonly key: string;
  readonly depth: number;
  readonly name: string;
  /** The file; null for a folder. */
  readonly file: ChangedFile | null;
  readonly added: number;
  readonly removed: number;
  /** Files in a folder. */
  readonly count: number;
}

interface Folder {
  readonly folders: Map<string, Folder>;
  readonly files: ChangedFile[];
}

/** The rows of a tree of files; the folders in `closed` hide what they contain. */
export function treeRows(files: readonly ChangedFile[], closed: ReadonlySet<string>): readonly TreeRow[] {
  const root: Folder = { folders: new Map(), files: [] };
  for (const file of files) {
    const parts = file.path.replace(/\/$/, "").split("/");
    let at = root;
    for (const part of parts.slice(0, -1)) {
      let next = at.folders.get(part);
      if (!next) at.folders.set(part, (next = { folders: new Map(), files: [] }));
      at = next;
    }
    at.files.push(file);
  }
  const rows: TreeRow[] = [];
  addRows(root, "", 0, closed, rows);
  return rows;
}

/** The sums of added and removed lines. */
export function lineTotals(files: readonly ChangedFile[]): { readonly added: number; readonly removed: number } {
  let added = 0;
  let removed = 0;
  for (const file of files) {
    added += file.added ?? 0;
    removed += file.removed ?? 0;
  }
  return { added, removed };
}

function addRows(folder: Folder, prefix: string, depth: number, closed: ReadonlySet<string>, rows: TreeRow[]): void {
  for (const [name, inner] of folder.folders) {
    const [label, last] = joined(name, inner);
    const key = `${prefix}${label}/`;
    const files = allFiles(last);
    rows.push({ key, depth, name: label, file: null, ...lineTotals(files), count: files.length });
    if (!closed.has(key)) addRows(last, key, depth + 1, closed, rows);
  }
  for (const file of folder.files) {
    const name = file.path.slice(prefix.length);
    rows.push({ key: file.id, depth, name, file, added: file.added ?? 0, removed: file.removed ?? 0, count: 1 });
  }
}

/** A folder that contains only another folder is one row with it. */
function joined(name: string, folder: Folder): readonly [string, Folder] {
  let label = name;
  let last = folder;
  while (last.files.length === 0 && last.folders.size === 1) {
    const [[inner, next]] = [...last.folders] as [[string, Folder]];
    label = `${label}/${inner}`;
    last = next;
  }
  return [label, last];
}

function allFiles(folder: Folder): readonly ChangedFile[] {
  return [...folder.files, ...[...folder.folders.values()].flatMap(allFiles)];
}
