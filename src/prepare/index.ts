/**
 * Prepares files that the service does not accept unchanged, and joins their results. Nothing here sends anything.
 *
 * A video, from reading the header to joining the parts (`work` has a signal, an empty folder and a `report`):
 *
 *     const facts = await readFacts(programs, path, work);              // container, picture, audio tracks: milliseconds
 *     const size = { durationSeconds: facts.durationSeconds ?? 0, bytes: facts.bytes };
 *     const cost = videoSplitCost(kind, size, SERVICE_SPLIT);           // without --split: show describeSplitCost(cost)
 *     const long = cost.parts > 1;
 *     const first = await readTimeline(programs, path, facts, work);    // only if long: reads every packet
 *     const plan = planConversion(facts, { willBeSplit: long, isConstant: first.isConstant, audioTrack });
 *     // 'impossible': has a message and advice; 'none' or 'convert': has reasons to show to the user
 *     await requireWhole(programs, path, { facts, track: plan.track }, work);   // a truncated file would look complete
 *     const ready = await convert(programs, path, facts, plan, work);   // returns `path` for a plan of type 'none'
 *     const split = await splitLongVideo(programs, { path: ready, facts, timeline, track: plan.track }, work);
 *     //   facts and timeline belong to `ready`: read them again after a conversion; its only track is `facts.tracks[0]`
 *     // send each of split.parts to the service; `split` is plain data and can be kept in a record between runs
 *     const joined = await joinVideos(programs, results, split, { name: 'talk.es.mp4' }, work);
 *     const lines = joinSubtitles(linesOfParts, partOffsetsMs(split));
 *     const vocals = await joinWavs(programs, wavs, { endSeconds, manner: 'cut', name: 'talk.vocals.wav' }, work);
 *
 * A subtitle:
 *
 *     const lines = await readSubtitleFile(bytes, name);                // SRT, WebVTT, ASS
 *     const parts = splitSubtitle(lines);                               // one part if it is short enough
 *     const whole = joinSubtitles(answers, parts.map(({ offsetMs }) => offsetMs));
 *     const text = writeSubtitle(whole, 'vtt');
 *
 * All functions throw `PreparationFailure` with a code, a message and advice if the file is at fault.
 */
export { type ConversionPlan, convert, describeTrack, planConversion } from './conversion/convert.ts';
export { requireWhole } from './conversion/wholeness.ts';
export { addTracks } from './export/add-tracks.ts';
export type { ExportOptions } from './export/export-localized.ts';
export { PreparationFailure } from './failure.ts';
export { joinSubtitles } from './join/join-subtitles.ts';
export { joinVideos } from './join/join-videos.ts';
export { joinWavs } from './join/join-wavs.ts';
export { readFacts, type TrackFacts, type VideoFacts } from './media/facts.ts';
export { readTimeline } from './media/timeline.ts';
export { describeSplitCost, SERVICE_SPLIT, videoSplitCost } from './split/limits.ts';
export { cutsOf, packSplit, splitLongVideo, unpackSplit } from './split/split-long-video.ts';
export { partOffsetsMs, splitVideo, type VideoSplit } from './split/split-video.ts';
export type { SubtitleProblem } from './subtitles/check.ts';
export type { Comparison } from './subtitles/compare.ts';
export { readSubtitleFile } from './subtitles/read.ts';
export { splitSubtitle } from './subtitles/split-subtitle.ts';
export { writeSubtitle } from './subtitles/write.ts';
