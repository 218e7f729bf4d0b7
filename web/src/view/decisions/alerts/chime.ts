/** A short synthesized sound: two soft notes, the second a fourth above the first. */

const NOTES = [587.33, 783.99] as const;
const STEP_S = 0.14;
const LENGTH_S = 0.5;
const LOUD = 0.07;

let context: AudioContext | null = null;

/** Allow sounds later; the browser requires that this happens in a click or key press. */
export function allowSound(): void {
  if (!("AudioContext" in globalThis)) return;
  context ??= new AudioContext();
  if (context.state === "suspended") void context.resume();
}

/** Play it, if the browser allows it. */
export function chime(): void {
  if (context === null || context.state !== "running") return;
  NOTES.forEach((pitch, at) => note(context as AudioContext, pitch, at * STEP_S));
}

function note(sound: AudioContext, pitch: number, after: number): void {
  const begin = sound.currentTime + after;
  const tone = sound.createOscillator();
  const volume = sound.createGain();
  tone.type = "sine";
  tone.frequency.value = pitch;
  volume.gain.setValueAtTime(0, begin);
  volume.gain.linearRampToValueAtTime(LOUD, begin + 0.02);
  volume.gain.exponentialRampToValueAtTime(0.0001, begin + LENGTH_S);
  tone.connect(volume).connect(sound.destination);
  tone.start(begin);
  tone.stop(begin + LENGTH_S);
}
