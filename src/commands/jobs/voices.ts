/** --voices: a voice for each speaker of subtitles, whose lines are dubbed in jobs of their own. */
import type { InputProblem, PartVoice, VoicesByName } from '../../batch/input.ts';
import type { PlacedItem } from '../../batch/inputs/plan-items.ts';
import { VOICE_MODE } from '../../protocol/fields.ts';
import { nearestName } from '../../protocol/nearest.ts';
import type { Speakers, SubtitleLine } from '../../protocol/subtitle-line.ts';
import { invalidCallFailure } from '../context/command.ts';

/** The lines of one speaker, numbered from 1, at their times in the whole. */
interface SpeakerLines {
  readonly lines: readonly SubtitleLine[];
  readonly voice: PartVoice;
}

interface Group extends SpeakerLines {
  readonly lines: SubtitleLine[];
}

export interface Voices {
  /** By lower-case name. */
  readonly byName: VoicesByName;
  /** Notes who speaks in subtitles that are translated before they are dubbed. */
  note(speakers: Speakers): void;
  /** The lines of each speaker with a voice, in order of appearance, then those of everyone else. */
  assign(lines: readonly SubtitleLine[], speakers: Speakers): readonly SpeakerLines[];
  /** Names that nobody has in the subtitles noted so far, as problems. */
  findUnknown(): readonly InputProblem[];
  /** Problems of inputs whose speakers are not known here, and of unknown names. */
  check(items: readonly Pick<PlacedItem, 'item'>[]): readonly InputProblem[];
}

const POINTER = '--voices';

/**
 * Reads the values of --voices.
 * @returns null without any
 * @throws Failure (`usage`) for a value that is not `name=voice`, a name with two voices, and a voice that no service has
 */
export function openVoices(written: readonly string[] = []): Voices | null {
  if (written.length === 0) return null;
  const voices = new Map(parseVoices(written));
  const names = new Map<string, string>();
  const note = (speakers: Speakers) => {
    for (const name of speakers) {
      const folded = foldSpeaker(name ?? '');
      if (name !== undefined && !names.has(folded)) names.set(folded, name);
    }
  };
  const findUnknown = (): readonly InputProblem[] => {
    const known = [...names.values()];
    return [...voices.keys()]
      .filter((name) => !names.has(name))
      .map((name) => ({ pointer: POINTER, detail: describeUnknown(name, known) }));
  };
  return {
    byName: Object.fromEntries([...voices].toSorted(([left], [right]) => (left < right ? -1 : 1))),
    note,
    findUnknown,
    assign(lines, speakers) {
      note(speakers);
      const groups = new Map<string, Group>();
      const rest: Group = { voice: { speaker: null, mode: null }, lines: [] };
      for (const [at, line] of lines.entries()) {
        const speaker = speakers[at] ?? null;
        const name = foldSpeaker(speaker ?? '');
        const mode = voices.get(name);
        const group =
          mode === undefined ? rest : (groups.get(name) ?? { voice: { speaker, mode }, lines: [] });
        if (group !== rest) groups.set(name, group);
        group.lines.push({ ...line, index: group.lines.length + 1 });
      }
      return [...groups.values(), ...(rest.lines.length === 0 ? [] : [rest])];
    },
    check(items) {
      const unknown = items.flatMap(({ item: { input, label } }): InputProblem[] =>
        input.type === 'lines' || input.type === 'unusable'
          ? []
          : [
              {
                pointer: label,
                detail: 'does not say who speaks; download it as WebVTT or ASS for --voices',
              },
            ],
      );
      const isRead = items.some(({ item }) => item.input.type === 'lines');
      return unknown.length > 0 || !isRead ? unknown : findUnknown();
    },
  };
}

function parseVoices(written: readonly string[]): readonly (readonly [string, string])[] {
  const seen = new Set<string>();
  return written.map((pair) => {
    const at = pair.lastIndexOf('=');
    const [name, voice] = [pair.slice(0, Math.max(0, at)).trim(), pair.slice(at + 1).trim()];
    if (name === '' || voice === '')
      throw invalidCallFailure(
        `invalid --voices "${pair}": expected name=voice`,
        'Write it as in --voices anna=female,ben=male.',
      );
    const folded = foldSpeaker(name);
    if (seen.has(folded)) throw invalidCallFailure(`--voices names ${name} twice`, 'Leave one of them out.');
    seen.add(folded);
    return [folded, readVoice(voice)] as const;
  });
}

function readVoice(voice: string): string {
  const known = VOICE_MODE.choices.find((each) => each === voice.toLowerCase());
  if (known !== undefined) return known;
  const nearest = nearestName(voice, VOICE_MODE.choices);
  throw invalidCallFailure(
    `invalid --voices: there is no voice "${voice}"${nearest === null ? '' : `; did you mean ${nearest}?`}`,
    `A service knows only ${VOICE_MODE.choices.join(', ')}. With engines of your own, \`vloc engines add speak --voice es.female=NAME\` says which voice that is.`,
  );
}

/** Names are compared without regard to case. */
function foldSpeaker(name: string): string {
  return name.normalize('NFC').toLowerCase();
}

const MOST_NAMES = 10;

function describeUnknown(name: string, known: readonly string[]): string {
  if (known.length === 0)
    return `no cue says that ${name} speaks it; use WebVTT (<v Anna>) or ASS (column Name), since SRT has no place for names`;
  const nearest = nearestName(name, known);
  const advice = nearest === null ? '.' : `; did you mean ${nearest}?`;
  const more = known.length > MOST_NAMES ? ` and ${known.length - MOST_NAMES} more` : '';
  return `no cue is spoken by ${name}${advice} The speakers are ${known.slice(0, MOST_NAMES).join(', ')}${more}`;
}
