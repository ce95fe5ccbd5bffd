import type { Schema } from '../../../../src/batch/records/database.ts';

/** A database of numbered lines, for tests of the file itself. */
export const LINES: Schema = {
  applicationId: 0x74657374,
  version: 1,
  sql: `
    CREATE TABLE lines (number INTEGER PRIMARY KEY, text TEXT, checksum TEXT) STRICT;
    CREATE TABLE damages (places TEXT PRIMARY KEY, kept TEXT, checksum TEXT) STRICT;`,
  noteDamage: (database, places, kept) => database.change('damages', { places: places.join('\n') }, { kept }),
};
