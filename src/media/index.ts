/**
 * Prepares files that the service does not accept unchanged, and joins their results. Nothing here sends anything.
 *
 * A video, from reading the header to joining the parts (`work` has a signal, an empty folder and a `report`):
 *
 *     const facts = await readFacts(programs, path, work);              // container, picture, audio tracks: milliseconds
 *     const size = { durationSeconds: facts.durationSeconds ?? 0, bytes: facts.bytes };
 *     const long = countParts(size, SERVICE_SPLIT) > 1;                 // without --split: show describeSplitCost(…)
 *     const first = await readTimeline(programs, path, facts, work);    // only if long: reads every packet
 *     const plan = planConversion(facts, { willBeSplit: long, isConstant: first.isConstant, audioTrack });
 *     // 'impossible': has a message and advice; 'none' or 'convert': has reasons to show to the user
 *     await requireComplete(programs, path, facts, work);   // if not long: a truncated file would look complete
 *     const ready = await convertVideo(programs, path, facts, plan, work);   // returns `path` for a plan of type 'none'
 *     const video = { path: ready, facts, timeline, track: plan.track };
 *     const split = await splitLongVideo(programs, video, work, SERVICE_SPLIT);
 *     //   facts and timeline belong to `ready`: read them again after a conversion; its only track is `facts.tracks[0]`
 *     // send each of split.parts to the service; `split` is plain data and can be kept in a record between runs
 *     const joined = await joinVideos(programs, results, split, { name: 'talk.es.mp4', source: path }, work);
 *     const lines = joinSubtitles(linesOfParts, partOffsetsMs(split));
 *     const vocals = await joinWavs(programs, wavs, { endSeconds, manner: 'cut', name: 'talk.vocals.wav' }, work);
 *
 * A subtitle:
 *
 *     const lines = readSubtitleFile(bytes, name);                      // SRT, WebVTT, ASS
 *     const parts = splitSubtitle(lines);                               // one part if it is short enough
 *     const whole = joinSubtitles(answers, parts.map(({ offsetMs }) => offsetMs));
 *     const text = writeSubtitle(whole, 'vtt');
 *     const { findings } = inspectSubtitle(bytes, name);                // compareSubtitles(before, after): changes
 *
 * All functions throw `PreparationFailure` with a code, a message and advice if the file is at fault.
 */

export { addTracks } from './export/add-tracks.ts';
export {
  type ConversionOptions,
  type ConversionPlan,
  convertVideo,
  describeTrack,
  planConversion,
  stillBytes,
  uncopiedCodec,
} from './export/convert.ts';
export { burnTrack, type ExportOptions, exportLocalized } from './export/export.ts';
export { joinLanguages } from './export/languages.ts';
export { markVideo } from './export/mark.ts';
export { requireSoundEncoder, type SoundTask, writeSound } from './export/sound.ts';
export { joinWavs } from './join/join-sound.ts';
export { joinVideos } from './join/join-videos.ts';
export { readFacts, type VideoFacts } from './probe/facts.ts';
export { requireAllOf, requirePlayable } from './probe/inspect.ts';
export { requireComplete } from './probe/packets.ts';
export { soundFormatOf, soundSeconds } from './probe/sound.ts';
export { readTimeline } from './probe/timeline.ts';
export { PreparationFailure } from './programs/failures.ts';
export {
  countParts,
  describeSplitCost,
  SERVICE_SPLIT,
  type SplitLimits,
  videoSplitCost,
} from './split/limits.ts';
export { findSampleEnd } from './split/sample-end.ts';
export { cutsOf, type LongVideo, packSplit, splitLongVideo, unpackSplit } from './split/split-long-video.ts';
export { partOffsetsMs, splitVideo, type VideoSplit } from './split/split-video.ts';
export { joinSubtitles, splitSubtitle } from './split/subtitle-parts.ts';
export {
  inspectSubtitle,
  type SubtitleProblem,
} from './subtitles/check.ts';
export { type Comparison, compareSubtitles, describeChange } from './subtitles/compare.ts';
export { readSubtitleFile, type ScannedCue } from './subtitles/read-subtitle.ts';
export { writeSubtitle } from './subtitles/write.ts';
