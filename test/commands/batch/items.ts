/** Items and events of a batch, as a run reports them. */

import { Failure } from '../../../src/base/failure.ts';
import type { BatchEvent, BatchItem, BatchOutcome, ItemState } from '../../../src/batch/item.ts';

export const START_MS = Date.parse('2026-11-21T02:00:00.000Z');

export function item(name: string, language: string | null = 'es', minutes: number | null = null): BatchItem {
  return {
    key: JSON.stringify(['auto_localization', name, language]),
    label: language === null ? name : `${name} → ${language}`,
    kind: 'auto_localization',
    input: { type: 'url', label: name, stem: name, name, url: `https://media.example/${name}` },
    targetLanguage: language,
    fields: { target_language: language },
    optionsDigest: '0123456789abcdef',
    folder: '',
    units: minutes === null ? null : { unit: 'started_minute', quantity: minutes },
  };
}

export function itemEvent(about: BatchItem, state: ItemState, afterMs = 0): BatchEvent & { type: 'item' } {
  return { type: 'item', item: about, state, atMs: START_MS + afterMs };
}

export const processing = (jobId: string, fraction: number, stage = 'dubbing'): ItemState => ({
  phase: 'processing',
  jobId,
  stage,
  fraction,
});

export const done = (jobId: string, path = 'talk.es.mp4'): BatchOutcome['state'] => ({
  phase: 'done',
  jobId,
  files: [{ asset: 'video', path, bytes: 10, sha256: 'a'.repeat(64) }],
  credits: 1,
  before: null,
});

export const doneBefore: ItemState = {
  phase: 'done',
  jobId: null,
  files: [{ asset: 'video', path: 'old.es.mp4', bytes: 10, sha256: null }],
  credits: null,
  before: 'downloaded',
};

export const failed = (jobId: string | null, message = 'no speech was found'): BatchOutcome['state'] => ({
  phase: 'failed',
  jobId,
  failure: new Failure({ category: 'job', code: 'NO_SPEECH_DETECTED', message, requestId: 'req_1' }),
});
