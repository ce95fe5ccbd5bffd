/** The one set of controls for all players of an entry. */
import { formatClock, speakClock } from '../times.ts';
import { make } from './element.ts';

export interface Transport {
  readonly node: HTMLElement;
  show(seconds: number, isPlaying: boolean): void;
}

interface Handlers {
  readonly onToggle: () => void;
  readonly onSeek: (seconds: number) => void;
  readonly onRate: (rate: number) => void;
}

const RATES = [0.5, 0.75, 1, 1.25, 1.5, 2];

export function makeTransport(durationSeconds: number, { onToggle, onSeek, onRate }: Handlers): Transport {
  const play = make('button', { type: 'button', class: 'play' }, 'Play');
  play.addEventListener('click', onToggle);
  const slider = make('input', {
    type: 'range',
    min: 0,
    max: durationSeconds,
    step: 0.1,
    value: 0,
    'aria-label': 'Position',
  });
  slider.addEventListener('input', () => onSeek(Number(slider.value)));
  const clock = make('span', { class: 'clock' });
  const rate = make(
    'select',
    { 'aria-label': 'Speed' },
    ...RATES.map((value) => make('option', { value, selected: value === 1 }, `${value}×`)),
  );
  rate.addEventListener('change', () => onRate(Number(rate.value)));
  const total = formatClock(durationSeconds * 1000);
  return {
    node: make('div', { class: 'transport' }, play, slider, clock, rate),
    show(seconds, isPlaying) {
      const ms = seconds * 1000;
      play.textContent = isPlaying ? 'Pause' : 'Play';
      slider.value = String(seconds);
      slider.setAttribute('aria-valuetext', speakClock(ms));
      clock.textContent = `${formatClock(ms)} / ${total}`;
    },
  };
}
