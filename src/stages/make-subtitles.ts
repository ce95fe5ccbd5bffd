/** The stages that write subtitles down: recognition and translation. */
import type { BatchItem } from '../batch/item.ts';
import type { RunOutcome } from '../batch/run/batch.ts';
import { languageOfStage, linesStage, videoStage } from '../batch/stages/items.ts';
import { Failure } from '../errors/failure.ts';
import { baseLanguage, languageName } from '../protocol/language-tag.ts';
import { createPlanIo } from '../workflow/jobs/plan-jobs.ts';
import { besidePath } from './beside.ts';
import { follow } from './follow.ts';
import { labelOf, readStageLines } from './given-subtitle.ts';
import { type Leaving, leaveSubtitles } from './leave-subtitles.ts';
import { runPhase } from './run-phase.ts';
import { fail, going, type Journey, type Session } from './session.ts';
import type { StageSubtitle, Talk } from './stage-plan.ts';

/** Writes down what is said in each video whose words somebody needs, and leaves that beside it. */
export async function recognizeAll(session: Session): Promise<void> {
  const { choices } = session.plan;
  const isWanted = ({ target }: Journey) => target === null || choices.stopAfter === 'recognize';
  const deaf = going(session).filter((journey) => journey.source === null && isWanted(journey));
  const byTalk = Map.groupBy(deaf, ({ talk }) => talk);
  const itemOf = new Map(
    [...byTalk.keys()].map((talk) => [talk, videoStage('subtitle_recognition', talk.item)]),
  );
  const outcomes = await runPhase(session, describe('Recognizing', 'video', itemOf.size), [
    ...itemOf.values(),
  ]);
  const leavings: Leaving[] = [];
  for (const [talk, journeys] of byTalk) {
    const item = itemOf.get(talk);
    for (const journey of journeys) follow(journey, item, outcomes);
    const heard = journeys.filter(({ end }) => end === null);
    const source = heard.length === 0 ? null : await readSource(session, talk, outcomeOf(item, outcomes));
    if (source === null) continue;
    for (const journey of heard) journey.source = source;
    leavings.push(leavingOf(talk, 'source', source));
  }
  await leaveAll(session, leavings, ({ source }) => source);
}

/** Translates what is said for all that have no translation yet, and leaves that beside the video. */
export async function translateAll(session: Session): Promise<void> {
  const due = going(session).filter(({ target }) => target === null);
  const items = new Map<Journey, BatchItem>();
  for (const journey of due) {
    const { source, wish } = journey;
    if (source === null) continue;
    const language = wish.item.targetLanguage ?? '';
    if (source.language !== null && baseLanguage(source.language) === baseLanguage(language))
      fail(journey, sameLanguage(source.language));
    else items.set(journey, linesStage('subtitle_translation', wish.item, source, source.language));
  }
  const outcomes = await runPhase(session, describe('Translating', 'subtitle', items.size), [
    ...items.values(),
  ]);
  const leavings: Leaving[] = [];
  for (const [journey, item] of items) {
    follow(journey, item, outcomes);
    if (journey.end !== null) continue;
    const { input, targetLanguage } = journey.wish.item;
    const path = besidePath(input, targetLanguage, session.plan.choices.format);
    journey.target = await readMade(session, outcomeOf(item, outcomes), path, targetLanguage);
    if (journey.target !== null) leavings.push(leavingOf(journey.talk, 'target', journey.target));
  }
  await leaveAll(session, leavings, ({ target }) => target);
}

function describe(doing: string, what: string, count: number): string {
  return `${doing} ${count} ${what}${count === 1 ? '' : 's'}`;
}

function outcomeOf(
  item: BatchItem | undefined,
  outcomes: ReadonlyMap<string, RunOutcome>,
): RunOutcome | null {
  return outcomes.get(item?.key ?? '') ?? null;
}

async function readSource(
  session: Session,
  talk: Talk,
  outcome: RunOutcome | null,
): Promise<StageSubtitle | null> {
  const path = outcome?.state.phase === 'done' ? outcome.state.files[0]?.path : undefined;
  const asked = talk.item.fields.source_language;
  const told = path === undefined ? null : languageOfStage(path);
  const language = told ?? (typeof asked === 'string' && asked !== 'auto' ? asked : null);
  return readMade(
    session,
    outcome,
    besidePath(talk.item.input, language, session.plan.choices.format),
    language,
  );
}

/** @param path where the subtitle is left for people */
async function readMade(
  { context }: Session,
  outcome: RunOutcome | null,
  path: string,
  language: string | null,
): Promise<StageSubtitle | null> {
  const file = outcome?.state.phase === 'done' ? outcome.state.files[0] : undefined;
  const lines = file === undefined ? null : await readStageLines(file.path);
  if (lines === null) return null;
  const { io, signal } = context;
  const examined = await createPlanIo(io, {
    kind: 'subtitle_translation',
    // A video that went in parts may have more lines than the service takes at once.
    options: { split: true },
    signal,
  }).examineLines(lines);
  const parts = examined.type === 'usable' ? examined.parts : null;
  return { label: labelOf(path, io.cwd), path, language, lines, parts };
}

function leavingOf(talk: Talk, role: Leaving['role'], { path, lines, language }: StageSubtitle): Leaving {
  return { path, lines, role, video: talk.item.input.name, language: language ?? 'und' };
}

/** What could not be left ends the wishes that it is for: nobody could look it over. */
async function leaveAll(
  session: Session,
  leavings: readonly Leaving[],
  subtitleOf: (journey: Journey) => StageSubtitle | null,
): Promise<void> {
  const failures = await leaveSubtitles(session, leavings);
  for (const journey of going(session)) {
    const failure = failures.get(subtitleOf(journey)?.path ?? '');
    if (failure !== undefined) fail(journey, failure);
  }
}

function sameLanguage(language: string): Failure {
  return new Failure({
    category: 'usage',
    code: 'LANGUAGE_NOT_SUPPORTED',
    message: `the speech is in ${languageName(language)} already, which is the target language`,
    advice: 'Choose another with --to, or give the subtitles to be spoken with --subtitle.',
  });
}
