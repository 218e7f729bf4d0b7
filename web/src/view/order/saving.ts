/** Saves data as a file of the browser's downloads. */

const LONGEST = 80;

/** A title as the name of a file, without characters that file systems refuse. */
export function fileNameOf(title: string): string {
  const words = title.slice(0, LONGEST).replace(/[\p{C}\\/:*?"<>|.]/gu, " ");
  return words.split(" ").filter((word) => word !== "").join(" ") || "session";
}

export function saveFile(content: Blob, name: string): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
