import { describe, expect, it } from 'vitest';
import {
  combineJobs,
  combineParts,
  cutsOf,
  describeCuts,
  describeFast,
  describeFit,
  describeReuse,
  describeUse,
  describeWarnings,
  groupFallbacks,
  type ItemProvenance,
} from '../../src/batch/item-provenance.ts';

const SPOKEN = { step: 'speak', engine: 'openai kokoro', skipped: [] } as const;
const FALLBACK = { step: 'translate', engine: 'apertium', skipped: ['openai qwen3'] } as const;
const cut = (...cues: number[]) => ({ cues, fit: 'cut', speed: 1.4, tempo: 4, cut_seconds: 0.52 }) as const;
const faster = (...cues: number[]) => ({ cues, fit: 'speed', speed: 1.2, tempo: 1, cut_seconds: 0 }) as const;
const provenance = (cues: ItemProvenance['cues'], engines: ItemProvenance['engines'] = [SPOKEN]) => ({
  engines,
  cues,
});

describe('the processing of several jobs', () => {
  it('names each use of an engine once, and keeps all cues', () => {
    const both = combineJobs([provenance([], [FALLBACK]), null, provenance([cut(3)], [FALLBACK, SPOKEN])]);
    expect(both).toEqual({ engines: [FALLBACK, SPOKEN], cues: [cut(3)] });
  });

  it('counts the cues of each part separately', () => {
    const whole = combineParts([provenance([cut(3)]), null, provenance([faster(3)])]);
    expect(whole?.cues).toEqual([
      { ...cut(3), part: 1 },
      { ...faster(3), part: 3 },
    ]);
  });

  it('is empty if no job describes it', () => {
    expect(combineParts([null, null])).toBeNull();
    expect(combineJobs([])).toBeNull();
  });
});

it('surround sound that becomes stereo is said', () => {
  const use = { step: 'export', engine: 'ffmpeg', skipped: [], mixed: 6 } as const;
  expect(describeUse(use)).toBe('sound of 6 channels mixed to two by ffmpeg');
});

describe('a separation', () => {
  const FOUND = { step: 'separate', engine: 'vloc', skipped: [] } as const;
  const SILENT = { ...FOUND, silent: true } as const;

  it('without a voice is a warning, and its use says so', () => {
    expect(describeWarnings(provenance([], [SILENT]))).toEqual([
      'no voice was found, so the voice track is silent',
    ]);
    expect(describeUse(SILENT)).toBe('separated by vloc (no voice found)');
    expect(describeWarnings(provenance([], [FOUND]))).toEqual([]);
  });

  it('in parts says whether all of them are silent', () => {
    const parts = combineParts([provenance([], [SILENT]), provenance([], [FOUND])]);
    expect(parts && describeWarnings(parts)).toEqual([
      'no voice was found in some of its parts, so the voice track is silent there',
    ]);
  });
});

describe('a recognition', () => {
  const DROP = { start_ms: 4_000, end_ms: 6_000, text: 'Thank you.', reason: 'silence' } as const;
  const DROPPED = { step: 'recognize', engine: 'command whisper', skipped: [], dropped: [DROP] } as const;

  it('that dropped texts is a warning that names them with their times and reasons', () => {
    expect(describeUse(DROPPED)).toBe('recognized by command whisper (1 text dropped)');
    expect(describeWarnings(provenance([], [DROPPED]))).toEqual([
      '1 recognized text was dropped: 00:00:04,000 "Thank you." (no speech is heard there)',
    ]);
    const many = {
      ...DROPPED,
      dropped: Array.from({ length: 7 }, () => ({ ...DROP, reason: 'fast' as const })),
    };
    expect(describeWarnings(provenance([], [many]))[0]).toMatch(
      /^7 recognized texts were dropped: 00:00:04,000 "Thank you\." \(nobody speaks so fast\), .* and 2 more$/,
    );
  });

  it('in parts names the part of each', () => {
    const parts = combineParts([provenance([], [{ ...DROPPED, dropped: [] }]), provenance([], [DROPPED])]);
    expect(parts && describeWarnings(parts)).toEqual([
      '1 recognized text was dropped: part 2, 00:00:04,000 "Thank you." (no speech is heard there)',
    ]);
  });
});

describe('a voice that is left in the background', () => {
  const LEFT = { step: 'separate', engine: 'builtin', skipped: [], residue: -7 } as const;

  it('is a warning with the loudest level of all parts', () => {
    expect(describeUse(LEFT)).toBe('separated by builtin (voice left in the background: -7 dB)');
    expect(describeWarnings(provenance([], [{ ...LEFT, residue: -8 }, LEFT]))).toEqual([
      'the original voice is heard in the background, only 7 dB quieter than it was, because the music is about as loud',
    ]);
  });
});

describe('an engine', () => {
  it('is named with its step and the engines that it replaces', () => {
    expect(describeUse(SPOKEN)).toBe('spoken by openai kokoro');
    const where = 'NVIDIA H200 (Vulkan), all 33 layers';
    expect(describeUse({ ...SPOKEN, where })).toBe(`spoken by openai kokoro (${where})`);
    expect(describeUse(FALLBACK)).toBe(
      'translated by apertium instead of openai qwen3, which does not support the language',
    );
    expect(describeUse({ ...SPOKEN, skipped: ['a', 'b'] })).toBe(
      'spoken by openai kokoro instead of a and b, which do not support the language',
    );
  });

  it('whose work was reused says so, and the steps are named together', () => {
    const reused = { step: 'separate', engine: 'builtin', skipped: [], reused: true } as const;
    expect(describeUse(reused)).toBe('separated by builtin (reused)');
    const recognized = { ...reused, step: 'recognize' } as const;
    expect(describeReuse(provenance([], [reused, SPOKEN]))).toBe('separation reused, not done again');
    expect(describeReuse(provenance([], [reused, recognized, { ...SPOKEN, reused: true }]))).toBe(
      'separation, recognition and dub reused, not done again',
    );
    expect(describeReuse(provenance([], [SPOKEN]))).toBeNull();
  });

  it('used for many items is named once, with the first of them', () => {
    const items = Array.from({ length: 7 }, (_, at) => ({
      label: `${at}.srt → gl`,
      provenance: provenance([], [FALLBACK]),
    }));
    expect(groupFallbacks([...items, { label: 'x', provenance: provenance([]) }])).toEqual([
      '0.srt → gl, 1.srt → gl, 2.srt → gl, 3.srt → gl, 4.srt → gl and 2 more: translated by apertium instead of openai qwen3, which does not support the language',
    ]);
  });
});

describe('cues', () => {
  it('say how they were changed, in the order of the changes', () => {
    expect(describeFit(faster(1))).toBe('spoken 1.20 times as fast');
    expect(describeFit(cut(1))).toBe(
      'spoken 1.40 times as fast, stretched to 4.00 times the tempo, 0.5 s cut off',
    );
  });

  it('far from their time are all named with how far', () => {
    const shifted = { ...faster(4), fit: 'shift', speed: 1, shift_seconds: 0.812 } as const;
    const early = { ...faster(9), shift_seconds: -0.7 };
    expect(describeFit(shifted)).toBe('0.8 s after its cue');
    expect(describeWarnings(provenance([shifted]))).toEqual([
      '1 cue is spoken more than 0.6 s from its time: 4 (0.8 s late)',
    ]);
    expect(describeWarnings(provenance([shifted, early])).at(-1)).toBe(
      '2 cues are spoken more than 0.6 s from their time: 4 (0.8 s late), 9 (0.7 s early)',
    );
  });

  it('over 1.15 times the natural tempo are all named with it', () => {
    const slow = { ...faster(2), speed: 1.15 };
    const both = { ...faster(9), fit: 'tempo', speed: 1.1, tempo: 1.3 } as const;
    expect(describeFast(provenance([faster(1), slow, both]))).toBe(
      '2 cues are spoken more than 1.15 times as fast as natural: 1 (1.20), 9 (1.43)',
    );
    expect(describeFast(provenance([slow]))).toBeNull();
    const many = Array.from({ length: 30 }, (_, at) => faster(at + 1));
    expect(describeFast(provenance(many))).toContain(', 30 (1.20)');
  });

  it('that are cut off are counted one by one, also those spoken as one text', () => {
    expect(describeCuts(provenance([faster(1), cut(4, 5), cut(17)]))).toBe(
      '3 cues were too long to be spoken in their time and are cut off: 4, 5, 17',
    );
    expect(describeCuts(provenance([cut(4)]))).toBe(
      '1 cue was too long to be spoken in its time and is cut off: 4',
    );
    expect(describeCuts(provenance([faster(1)]))).toBeNull();
  });

  it('of parts are listed by part, and of many cues only as many as a table shows', () => {
    const parts = [
      { ...cut(4, 5), part: 1 },
      { ...cut(4), part: 2 },
    ];
    expect(cutsOf(provenance(parts))?.numbers).toBe('part 1: 4, 5; part 2: 4');
    const many = Array.from({ length: 30 }, (_, at) => cut(at + 1));
    expect(cutsOf(provenance(many), 12)).toEqual({
      count: 30,
      numbers: '1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 and 18 more',
    });
  });
});
