/** The pictures of an entry, and the players behind its waveforms. */
import type { ReportTrack } from '../../batch/report/page-facts.ts';
import { TRACK_NAMES } from '../words.ts';
import { make } from './element.ts';

export interface Player {
  readonly track: ReportTrack;
  readonly media: HTMLMediaElement;
  /** The picture with its name and the subtitle below; null for sound alone. */
  readonly figure: HTMLElement | null;
  /** Where the current subtitle is written. */
  readonly caption: HTMLElement | null;
}

/** Makes the players of those tracks whose files are there. Files are read when they are played, but for their heads. */
export function makePlayers(tracks: readonly ReportTrack[], onPress: () => void): Player[] {
  return tracks
    .filter(({ file }) => file.present)
    .map((track) => (track.media === 'video' ? makeVideo(track, onPress) : makeAudio(track)));
}

function makeAudio(track: ReportTrack): Player {
  return {
    track,
    media: make('audio', { src: track.file.href, preload: 'none' }),
    figure: null,
    caption: null,
  };
}

function makeVideo(track: ReportTrack, onPress: () => void): Player {
  const name = TRACK_NAMES[track.role];
  const media = make('video', {
    src: track.file.href,
    preload: 'metadata',
    playsinline: true,
    'aria-label': `${name} video`,
  });
  media.addEventListener('click', onPress);
  const caption = make('p', { class: 'caption', dir: 'auto' });
  const screen = make('div', { class: 'screen' }, media, caption);
  const notice = make('p', { class: 'notice', hidden: true });
  media.addEventListener('error', () => {
    notice.replaceChildren(
      'This browser cannot play it: the file is gone or of a format that browsers do not know. ',
      make('a', { href: track.file.href }, 'Open the file'),
    );
    notice.hidden = false;
    screen.hidden = true;
  });
  const title = make('figcaption', {}, name);
  return { track, media, figure: make('figure', { class: 'player' }, title, screen, notice), caption };
}
