/** The stages that make sound: dubs of the subtitles, and the originals without their voices. */
import type { BatchItem, ItemFile } from '../batch/item.ts';
import type { RunOutcome } from '../batch/run/batch.ts';
import { linesStage, videoStage } from '../batch/stages/items.ts';
import type { Parts } from './export-videos.ts';
import { follow } from './follow.ts';
import { runPhase } from './run-phase.ts';
import { going, type Journey, type Session } from './session.ts';
import { isDubbed, needsBackground } from './stage-plan.ts';

/** Makes both side by side; gives the parts of each finished video, null for one that lacks some. */
export async function makeVoices(session: Session): Promise<(journey: Journey) => Parts | null> {
  const dubs = new Map<Journey, BatchItem>();
  const separations = new Map<Journey, BatchItem>();
  for (const journey of going(session)) {
    const { wish, target } = journey;
    if (target === null) continue;
    if (isDubbed(wish)) dubs.set(journey, linesStage('dubbing', wish.item, target));
    if (needsBackground(wish)) separations.set(journey, videoStage('audio_separation', wish.item));
  }
  // Languages share the separation of their video.
  const shared = new Map([...separations.values()].map((item) => [item.key, item]));
  const count = `${dubs.size} ${dubs.size === 1 ? 'dub' : 'dubs'}`;
  const outcomes = await runPhase(session, `Making ${count}`, [...dubs.values(), ...shared.values()]);
  for (const journey of going(session)) {
    follow(journey, separations.get(journey), outcomes);
    follow(journey, dubs.get(journey), outcomes);
  }
  return (journey) => {
    if (journey.target === null) return null;
    const dub = fileOf(dubs.get(journey), outcomes, 'audio');
    const background = fileOf(separations.get(journey), outcomes, 'background_audio');
    const vocals = fileOf(separations.get(journey), outcomes, 'vocal_audio');
    if (dubs.has(journey) && dub === null) return null;
    if (separations.has(journey) && (background === null || vocals === null)) return null;
    return { dub, separated: background === null || vocals === null ? null : { background, vocals } };
  };
}

function fileOf(
  item: BatchItem | undefined,
  outcomes: ReadonlyMap<string, RunOutcome>,
  asset: string,
): ItemFile | null {
  const state = outcomes.get(item?.key ?? '')?.state;
  return (state?.phase === 'done' ? state.files.find((file) => file.asset === asset) : undefined) ?? null;
}
