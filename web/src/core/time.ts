/** Times, costs and sizes for people. Pure: the time is passed in as a value. */

/** `0:08`, `3:05`, `1:02:33`: how long something has been running. */
export function clockTime(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const [h, m, s] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60), whole % 60];
  const tail = `${h > 0 ? String(m).padStart(2, "0") : m}:${String(s).padStart(2, "0")}`;
  return h > 0 ? `${h}:${tail}` : tail;
}

/** `0.4 s`, `12 s`, `3 min 5 s`, `1 h 2 min`: how long something took. */
export function duration(seconds: number): string {
  if (seconds < 10) return `${(Math.floor(Math.max(0, seconds) * 10) / 10).toFixed(1)} s`;
  if (seconds < 60) return `${Math.floor(seconds)} s`;
  if (seconds < 3600) {
    const rest = Math.floor(seconds % 60);
    return rest ? `${Math.floor(seconds / 60)} min ${rest} s` : `${Math.floor(seconds / 60)} min`;
  }
  const rest = Math.floor((seconds % 3600) / 60);
  return rest ? `${Math.floor(seconds / 3600)} h ${rest} min` : `${Math.floor(seconds / 3600)} h`;
}

/** `now`, `12 s`, `3 m`, `4 h`, `2 d`: how long ago, in the shortest form. */
export function ago(seconds: number): string {
  if (seconds < 5) return "now";
  if (seconds < 60) return `${Math.floor(seconds)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} m`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h`;
  if (seconds < 86_400 * 60) return `${Math.floor(seconds / 86_400)} d`;
  return `${Math.floor(seconds / (86_400 * 30))} mo`;
}

/** `12 s`, `4 min`, `2 h`, `3 d`: how long ago, for a sentence that ends with "ago". */
export function longAgo(seconds: number): string {
  return ago(Math.max(5, seconds)).replace(/ m$/, " min");
}

/** `$0.42`, `$0.0031`, `$12.10`. */
export function money(usd: number): string {
  if (usd === 0) return "$0.00";
  if (Math.abs(usd) < 0.01) return `$${usd.toFixed(4)}`;
  return `$${usd.toFixed(2)}`;
}

/** `950`, `46 k`, `1.2 M`: a number of tokens. */
export function tokens(count: number): string {
  if (count < 1000) return String(Math.round(count));
  if (count < 999_500) {
    const thousands = count / 1000;
    return `${thousands < 10 ? thousands.toFixed(1).replace(/\.0$/, "") : Math.round(thousands)} k`;
  }
  return `${(count / 1_000_000).toFixed(1).replace(/\.0$/, "")} M`;
}

const MB = 1024 * 1024;

/** `12 B`, `3.4 KB`, `5 MB`, `74 GB`. */
export function bytes(count: number): string {
  if (count < 1024) return `${count} B`;
  const [size, unit] = count < MB ? [count / 1024, "KB"] : count < 1024 * MB ? [count / MB, "MB"] : [count / MB / 1024, "GB"];
  return `${size < 10 ? size.toFixed(1).replace(/\.0$/, "") : Math.round(size)} ${unit}`;
}
