/** Parts that the `models` commands share: one process at a time, and how a model is printed. */

import { resolve } from 'node:path';
import * as v from 'valibot';
import { formatBytes } from '../../base/amounts.ts';
import { type Failure, temporaryFailure } from '../../base/failure.ts';
import { describeHolder } from '../../batch/records/hold.ts';
import { type Lock, tryLock } from '../../batch/records/lock.ts';
import { MODEL_STEPS, type Model, sizeOf } from '../../engines/models/catalog.ts';
import type { ModelReport } from '../../engines/models/store.ts';
import { nearestName } from '../../protocol/nearest.ts';
import { invalidCallFailure } from '../context/command.ts';
import { describeList, describeRecord, NullableText } from '../context/output-schemas.ts';
import type { Column, RecordForm } from '../context/records.ts';

const MODEL = v.object({
  id: v.string(),
  step: v.picklist(MODEL_STEPS),
  title: v.string(),
  size: v.picklist(['small', 'large']),
  state: v.picklist(['absent', 'complete', 'outdated', 'damaged']),
  languages: v.array(v.string()),
  bytes: v.number(),
  memory_mib: v.number(),
  ran_on: NullableText,
  licence: v.string(),
  licence_url: v.string(),
  commercial: v.picklist(['yes', 'no', 'unclear']),
  notice: v.string(),
  published: v.array(v.object({ figure: v.string(), source: v.string(), date: v.string() })),
  files: v.array(v.object({ path: v.string(), url: v.string(), bytes: v.number(), sha256: v.string() })),
});

export const MODELS = describeList(MODEL);

export const MODEL_RECORD = describeRecord(MODEL);

export const MODEL_FIELDS: readonly string[] = Object.keys(MODEL.entries);

/** @throws Failure (`usage`) that names a similar model */
export function findModel(catalog: readonly Model[], name: string): Model {
  const found = catalog.find(({ id }) => id === name);
  if (found !== undefined) return found;
  const names = catalog.map(({ id }) => id);
  const meant = nearestName(name, names);
  throw invalidCallFailure(
    `there is no model "${name}"`,
    meant === null ? `Models: ${names.join(', ')}.` : `Did you mean ${meant}?`,
  );
}

/** Lets one process at a time change the models. @throws Failure (`temporary`, MODELS_LOCKED; `disk`) */
export async function lockModels(folder: string): Promise<Lock> {
  const path = resolve(folder, '.lock');
  const attempt = await tryLock(path);
  if (attempt.taken) return attempt.lock;
  const { who, ifDead } = describeHolder(attempt, path);
  throw modelsLockedFailure(folder, who, ifDead);
}

function modelsLockedFailure(folder: string, who: string, ifDead: string): Failure {
  return temporaryFailure(
    'MODELS_LOCKED',
    `another vloc changes the models in ${folder}: ${who}`,
    `Wait until it is done, then run the same command again.${ifDead}`,
    { retryable: true },
  );
}

/** A model as commands print it. */
export type ModelRow = v.InferOutput<typeof MODEL>;

/** @param ranOn where it ran last, if it may use a graphics card */
export function describeModel(
  model: Model,
  state: ModelReport['state'],
  ranOn: string | null = null,
): ModelRow {
  const { id, step, title, size, languages, licence, memoryMib, published, files } = model;
  return {
    ...{
      id,
      step,
      title,
      size,
      state,
      languages,
      bytes: sizeOf(model),
      memory_mib: memoryMib,
      ran_on: ranOn,
    },
    ...{
      licence: licence.spdx,
      licence_url: licence.url,
      commercial: licence.commercial,
      notice: licence.notice,
    },
    ...{ published, files },
  };
}

/** More tags would fill the table. */
const SHOWN_LANGUAGES = 7;

const COLUMNS = {
  model: { head: 'MODEL', field: 'id' },
  step: { head: 'USED FOR', field: 'step' },
  state: { head: { title: 'STATE', status: true }, field: 'state' },
  languages: { head: { title: 'LANGUAGES', wraps: 12 }, field: 'languages', text: showLanguages },
  bytes: { head: 'DOWNLOAD', field: 'bytes', text: ({ bytes }) => formatBytes(bytes) },
  memory: {
    head: { title: 'MEMORY', drops: 1 },
    field: 'memory_mib',
    text: ({ memory_mib: mib }) => formatBytes(mib * 1024 ** 2),
  },
  place: {
    head: { title: 'RAN ON', drops: 2, wraps: 14 },
    field: 'ran_on',
    text: ({ ran_on: place }) => place ?? '-',
  },
  licence: { head: 'LICENCE', field: 'licence' },
  commercial: { head: 'COMMERCIAL USE', field: 'commercial' },
  notice: { head: 'ATTRIBUTION', field: 'notice' },
  address: { head: 'ADDRESS', field: 'licence_url' },
} as const satisfies Readonly<Record<string, Column<ModelRow>>>;

function showLanguages({ languages }: ModelRow): string {
  if (languages.length === 0) return 'any';
  return languages.length > SHOWN_LANGUAGES ? `${languages.length}` : languages.join(' ');
}

const form = (...columns: readonly Column<ModelRow>[]): RecordForm<ModelRow> => ({
  plural: 'models',
  idOf: ({ id }) => id,
  columns,
});

export const PLAN_FORM = form(
  ...[COLUMNS.model, COLUMNS.step, COLUMNS.languages, COLUMNS.bytes, COLUMNS.licence, COLUMNS.commercial],
);
export const LIST_FORM = form(
  ...[
    COLUMNS.model,
    COLUMNS.step,
    COLUMNS.state,
    COLUMNS.languages,
    COLUMNS.bytes,
    COLUMNS.memory,
    COLUMNS.place,
    COLUMNS.licence,
  ],
);
export const LICENCES_FORM = form(
  ...[COLUMNS.model, COLUMNS.licence, COLUMNS.commercial, COLUMNS.notice, COLUMNS.address],
);
