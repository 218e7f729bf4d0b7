/** What git would commit, as the server answers. Pure. */

export interface GitRow {
  readonly id: string;
  readonly path: string;
  /** git's letter: M, A, D, R, C, T, U, or ? for a file that git does not know. */
  readonly kind: string;
  readonly old_path?: string;
  readonly conflicted?: boolean;
  readonly submodule?: boolean;
}

export interface GitAnswer {
  readonly repository: boolean;
  readonly branch: string | null;
  readonly commit: string | null;
  readonly upstream: string | null;
  readonly ahead: number;
  readonly behind: number;
  readonly staged: readonly GitRow[];
  readonly unstaged: readonly GitRow[];
  readonly total: number;
  readonly folded: boolean;
  /** The names of the hooks that a commit runs. */
  readonly hooks: readonly string[];
  readonly hooks_digest: string;
  readonly staged_digest: string;
}

export interface HunksAnswer {
  /** In the form of the CLI's own patches, each with its digest. */
  readonly hunks: readonly { readonly digest: string; readonly lines: readonly string[] }[];
  readonly binary: boolean;
  readonly cut: boolean;
}

/** What discarding a file would lose. */
export interface Loss {
  readonly file: string;
  readonly path: string;
  readonly digest: string;
  readonly about: string;
}

const KINDS: Readonly<Record<string, string>> = {
  M: "modified",
  A: "added",
  D: "deleted",
  R: "renamed",
  C: "copied",
  T: "changed type",
  U: "has conflicts",
  "?": "new",
};

/** What a letter of git stands for. */
export function kindName(row: GitRow): string {
  return row.conflicted ? "has conflicts" : (KINDS[row.kind] ?? "modified");
}
