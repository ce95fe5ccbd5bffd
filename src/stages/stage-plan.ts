/** What a localization in stages is about to do. */
import type { BatchItem } from '../batch/item.ts';
import type { Recorded } from '../batch/plan/decision.ts';
import type { Delivery } from '../batch/plan/delivery.ts';
import type { StageLines, VideoItem } from '../batch/stages/items.ts';
import type { StageRecords } from '../batch/stages/records.ts';
import type { StageChoices } from './stage-options.ts';

/** Subtitles that a stage begins with or gives. */
export interface StageSubtitle extends StageLines {
  /** Absolute: the file that people see. */
  readonly path: string;
  /** BCP 47 tag; null where nobody has told. */
  readonly language: string | null;
}

/** One video in one language. */
export interface Wish {
  readonly item: VideoItem;
  /** Where the finished video goes, absolute. */
  readonly path: string;
  /** Edited or brought along; null for what is to be translated. */
  readonly given: StageSubtitle | null;
  /** The file exists and is to be skipped. */
  readonly isLeftOut: boolean;
}

/** One video in all its languages. */
export interface Talk {
  readonly item: VideoItem;
  readonly wishes: readonly Wish[];
  /** Of what is said, edited or brought along; null for what is to be recognized. */
  readonly given: StageSubtitle | null;
}

/** A video of a folder in one language that fails on this machine: it, or its subtitles, cannot be used. */
export interface UnusableItem {
  readonly item: BatchItem;
  /** Why, and how to fix it. */
  readonly detail: string;
}

export interface StagePlan {
  readonly choices: StageChoices;
  readonly delivery: Delivery;
  readonly talks: readonly Talk[];
  readonly unusable: readonly UnusableItem[];
  /** Keys of all items, in the order of the inputs. */
  readonly order: readonly string[];
  readonly notes: readonly string[];
  /** As earlier runs have left it. */
  readonly recorded: Recorded;
  readonly stages: StageRecords;
}

/** Whether something is to be translated for a wish. */
export function needsTranslation({ given, isLeftOut }: Wish): boolean {
  return given === null && !isLeftOut;
}

/** Whether the words of the video must be written down first. */
export function needsRecognition({ given, wishes }: Talk): boolean {
  return given === null && wishes.some(needsTranslation);
}

/** Whether a dub is made, or the voice stays as it is. */
export function isDubbed({ item: { fields } }: Pick<Wish, 'item'>): boolean {
  return fields.mode !== 'subtitles_only';
}

/** Whether the original without its voice is part of the result. */
export function needsBackground(wish: Wish): boolean {
  return isDubbed(wish) && (wish.item.fields.original_audio ?? 'background') === 'background';
}
