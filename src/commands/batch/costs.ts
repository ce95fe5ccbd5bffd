/** Costs of jobs as records on stdout. */
import * as v from 'valibot';
import type { CostRow } from '../../batch/report/cost-table.ts';
import { JOB_KIND_NAMES } from '../../protocol/kind-names.ts';
import { describeUnits } from '../../protocol/metering.ts';
import { shapeOf } from '../../protocol/shape.ts';
import { NullableText } from '../context/output-schemas.ts';
import type { RecordForm } from '../context/records.ts';

const ENTRIES = {
  month: v.string(),
  folder: NullableText,
  target_language: NullableText,
  kind: v.picklist(JOB_KIND_NAMES),
  jobs: v.number(),
  quantity: v.number(),
  unit: v.string(),
  charged: v.number(),
  reserved: v.number(),
  unknown: v.number(),
  is_free: v.boolean(),
};

export const CostSchema = shapeOf<CostRow>()(v.object(ENTRIES));

/** The names that --fields accepts. */
export const COST_FIELDS = Object.keys(ENTRIES);

export const COSTS: RecordForm<CostRow> = {
  plural: 'jobs',
  idOf: ({ month, folder, target_language: language, kind }) =>
    [month, folder ?? '', language ?? '', kind].join(' '),
  columns: [
    { head: 'MONTH', field: 'month' },
    { head: { title: 'FOLDER', wraps: 20 }, field: 'folder' },
    { head: 'LANGUAGE', field: 'target_language' },
    { head: { title: 'KIND', drops: 2 }, field: 'kind' },
    { head: 'JOBS', field: 'jobs' },
    {
      head: { title: 'UNITS', drops: 1 },
      field: 'quantity',
      text: ({ quantity, unit }) => describeUnits(quantity, unit),
    },
    {
      head: 'CHARGED',
      field: 'charged',
      text: ({ charged, is_free: isFree }) => (isFree ? 'free' : `${charged}`),
    },
    { head: 'RESERVED', field: 'reserved' },
    { head: { title: 'UNKNOWN', drops: 3 }, field: 'unknown' },
  ],
};
