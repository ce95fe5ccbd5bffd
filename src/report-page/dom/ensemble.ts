/** The players of one entry as one: they play, stop and seek together, and one of them is heard. */
import { correct } from '../follow.ts';

export interface Ensemble {
  /** Seconds; of the player that is heard. */
  readonly time: number;
  readonly isPlaying: boolean;
  toggle(): void;
  pause(): void;
  /** Seconds, kept within the entry. */
  seek(seconds: number): void;
  setRate(rate: number): void;
  /** Makes another player the one that is heard; the others show their picture without sound. */
  listen(player: HTMLMediaElement): void;
}

/**
 * @param players those with a picture run along also when they are not heard
 * @param durationSeconds of the longest
 * @param onChange is told when playing begins or ends
 */
export function makeEnsemble(
  players: readonly HTMLMediaElement[],
  durationSeconds: number,
  onChange: () => void,
): Ensemble {
  let rate = 1;
  let heard = players[0];
  let wanted = 0;
  let playing = false;
  const time = () =>
    heard !== undefined && heard.readyState > 0 && !heard.ended ? heard.currentTime : wanted;
  const followers = () => players.filter((player) => player !== heard && player instanceof HTMLVideoElement);

  function assign(): void {
    for (const player of players) player.muted = player !== heard;
  }

  function startAll(): void {
    if (heard === undefined) return;
    playing = true;
    for (const player of [heard, ...followers()]) {
      // Refused when the file cannot be played, which the player shows by itself.
      if (!(wanted >= player.duration)) player.play().catch(() => {});
    }
    onChange();
  }

  function stopAll(): void {
    wanted = time();
    playing = false;
    for (const player of players) player.pause();
    onChange();
  }

  function moveAll(seconds: number): void {
    wanted = Math.min(Math.max(0, seconds), durationSeconds);
    for (const player of players) {
      if (player.readyState > 0) player.currentTime = Math.min(wanted, player.duration || wanted);
    }
  }

  function keepTogether(): void {
    if (heard === undefined || !playing) return;
    for (const follower of followers()) {
      const step = correct(heard.currentTime, follower.currentTime, follower.duration);
      if (step.type === 'rest') follower.pause();
      else if (follower.paused) follower.play().catch(() => {});
      if (step.type === 'seek') follower.currentTime = step.to;
      follower.playbackRate = rate * (step.type === 'rate' ? step.factor : 1);
    }
  }

  for (const player of players) {
    // The file may become readable after somebody has sought.
    player.addEventListener('loadedmetadata', () => {
      player.currentTime = Math.min(wanted, player.duration || wanted);
    });
    player.addEventListener('timeupdate', () => player === heard && keepTogether());
    player.addEventListener('ended', () => player === heard && stopAll());
    // Headphones that are pulled out and keys of the system pause one player: then all.
    player.addEventListener('pause', () => player === heard && playing && !player.ended && stopAll());
  }
  assign();
  return {
    get time() {
      return time();
    },
    get isPlaying() {
      return playing;
    },
    toggle() {
      if (playing) {
        stopAll();
        return;
      }
      if (wanted >= durationSeconds || heard?.ended) moveAll(0);
      startAll();
    },
    pause: stopAll,
    seek(seconds) {
      moveAll(seconds);
      if (playing) startAll();
      else onChange();
    },
    setRate(next) {
      rate = next;
      for (const player of players) player.playbackRate = next;
    },
    listen(player) {
      const at = time();
      const wasPlaying = playing;
      playing = false;
      if (!(heard instanceof HTMLVideoElement)) heard?.pause();
      heard = player;
      assign();
      player.currentTime = Math.min(at, player.duration || at);
      player.playbackRate = rate;
      wanted = at;
      if (wasPlaying) startAll();
      else onChange();
    },
  };
}
