/** Synchronizes the players of an entry: they play, stop and seek together, and one of them is audible. */
import type { ReportTrack } from '../../report/page-facts.ts';
import { correctDrift } from '../playback.ts';
import { TRACK_NAMES } from '../words.ts';
import { makeElement, makeStyled } from './element.ts';

export interface Player {
  readonly track: ReportTrack;
  readonly media: HTMLMediaElement;
  /** The video with its name and subtitle; null for audio. */
  readonly figure: HTMLElement | null;
  /** Shows the current subtitle; null for audio. */
  readonly caption: { show(text: string): void } | null;
}

/** Creates players for tracks whose files exist. Before playback only the file headers are read. */
export function makePlayers(tracks: readonly ReportTrack[], onPress: () => void): Player[] {
  return tracks
    .filter(({ file }) => file.present)
    .map((track) => (track.media === 'video' ? makeVideo(track, onPress) : makeAudio(track)));
}

function makeAudio(track: ReportTrack): Player {
  return {
    track,
    media: makeElement('audio', { src: track.file.href, preload: 'none' }),
    figure: null,
    caption: null,
  };
}

function makeVideo(track: ReportTrack, onPress: () => void): Player {
  const name = TRACK_NAMES[track.role];
  const media = makeElement('video', {
    src: track.file.href,
    preload: 'metadata',
    playsinline: true,
    'aria-label': `${name} video`,
  });
  media.addEventListener('click', onPress);
  const shown = makeElement('p', { class: 'caption', dir: 'auto' });
  const screen = makeElement('div', { class: 'screen' }, media, shown);
  const notice = makeElement('p', { class: 'notice', hidden: true });
  media.addEventListener('error', () => {
    notice.replaceChildren(
      'This browser cannot play it: the file is missing, or browsers do not support its format. ',
      makeElement('a', { href: track.file.href }, 'Open the file'),
    );
    notice.hidden = false;
    screen.hidden = true;
  });
  let current = '';
  const caption = {
    show(text: string) {
      if (text === current) return;
      current = text;
      shown.replaceChildren(...makeStyled(text));
    },
  };
  const title = makeElement('figcaption', {}, name);
  return { track, media, figure: makeElement('figure', { class: 'player' }, title, screen, notice), caption };
}

export interface Ensemble {
  /** Position of the audible player in seconds. */
  readonly time: number;
  readonly isPlaying: boolean;
  toggle(): void;
  pause(): void;
  /** In seconds, limited to the duration of the entry. */
  seek(seconds: number): void;
  setRate(rate: number): void;
  /** Makes another player audible; the others are muted. */
  listen(player: HTMLMediaElement): void;
}

/**
 * @param players videos also play while muted
 * @param given the player that is heard at first, and the duration of the longest track
 * @param onChange called when playback starts or stops
 */
export function makeEnsemble(
  players: readonly HTMLMediaElement[],
  { first, durationSeconds }: { readonly first: number; readonly durationSeconds: number },
  onChange: () => void,
): Ensemble {
  let rate = 1;
  let heard = players[first];
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
      // The player itself shows that a file cannot be played.
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
      const step = correctDrift(heard.currentTime, follower.currentTime, follower.duration);
      if (step.type === 'rest') follower.pause();
      else if (follower.paused) follower.play().catch(() => {});
      if (step.type === 'seek') follower.currentTime = step.to;
      follower.playbackRate = rate * (step.type === 'rate' ? step.factor : 1);
    }
  }

  for (const player of players) {
    // The file may become readable after a seek.
    player.addEventListener('loadedmetadata', () => {
      player.currentTime = Math.min(wanted, player.duration || wanted);
    });
    player.addEventListener('timeupdate', () => player === heard && keepTogether());
    player.addEventListener('ended', () => player === heard && stopAll());
    // Unplugged headphones and media keys pause one player; pause all of them.
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
