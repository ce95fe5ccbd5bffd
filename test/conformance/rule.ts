/** The type of a rule. */
import type { SentenceId } from './sentences.ts';
import type { ServiceUnderTest } from './service.ts';

/** Supplies that may be missing, with the reason shown for a skipped rule. */
export const NEEDS = {
  jobs: 'it creates jobs, which cost credits, and --no-jobs was given',
  media: 'no video was given with --media',
  mediaUrl: 'no public address of a video was given with --media-url',
  ffmpeg: 'ffmpeg, which makes the videos that it sends, is not on the PATH',
  otherKey: 'no second key was given with --other-key',
  webhooks: 'no receiver of webhooks was given with --webhook-url',
  keys: 'it creates keys with rules of their own, which only the operator can',
  account: 'it opens another service, which only the operator can',
  clock: 'it moves the clock of the service, which only the operator can',
  engines: 'it holds the media work or makes it fail, which only the operator can',
} as const;

export type Need = keyof typeof NEEDS;

/**
 * `spec`: the specification says it, so it must hold for any service. `contract`: our decision where the specification
 * says nothing; a tolerant run skips it.
 */
export type Strictness = 'spec' | 'contract';

export interface Rule {
  /** Section and name, such as `uploads.completion-before-bytes`. */
  readonly id: string;
  /** The required behaviour, as a sentence. */
  readonly title: string;
  /** The sentences of the specification that it proves. */
  readonly covers: readonly SentenceId[];
  readonly strictness: Strictness;
  readonly needs: readonly Need[];
  /** Rejects with the observed behaviour if the service breaks the rule. */
  readonly check: (service: ServiceUnderTest) => Promise<void>;
}

/** Returns the media that a job of a kind needs, in addition to the permission to create jobs. */
export function needsOf(input: 'video' | 'subtitle'): Need[] {
  return input === 'video' ? ['jobs', 'media'] : ['jobs'];
}

type Section = (
  strictness: Strictness,
  name: string,
  parts: {
    readonly title: string;
    readonly covers: readonly SentenceId[];
    readonly needs?: readonly Need[];
    readonly check: Rule['check'];
  },
) => Rule;

/** Returns a function that creates rules whose ids start with the name of their section. */
export function section(sectionName: string): Section {
  return (strictness, name, { title, covers, needs = [], check }) => ({
    id: `${sectionName}.${name}`,
    title,
    covers,
    strictness,
    needs,
    check,
  });
}
