import type { Upload } from '../../protocol/resources.ts';
import { UPLOAD_PURPOSES, UPLOAD_STATUSES } from '../../protocol/states.ts';
import type { Call } from '../call.ts';
import type { Context } from '../context.ts';
import { type Answer, json } from '../http/answer.ts';
import { readPage } from '../lists/page.ts';
import { presentUpload } from './present.ts';
import { expireUploads, UPLOAD_COLUMNS, UPLOAD_RECORD_MS, type UploadRow } from './rows.ts';

/** `GET /uploads`: the newest first. */
export function listUploads(context: Context, call: Call): Answer {
  expireUploads(context, call.now);
  const page = readPage<UploadRow, Upload>(context, call, {
    table: 'uploads',
    columns: UPLOAD_COLUMNS,
    timeColumn: 'created_at',
    conditions: [{ sql: 'created_at > ?', values: [call.now - UPLOAD_RECORD_MS] }],
    filters: { status: { values: UPLOAD_STATUSES }, purpose: { values: UPLOAD_PURPOSES } },
    positionOf: (row) => ({ time: row.created_at, id: row.id }),
    present: (row) => presentUpload(context, row),
  });
  return json(200, page);
}
