/** Reads the first sheet of a workbook (XLSX) as a table of texts. It comes from outside, so its size is limited. */
import { type UnzipFileInfo, unzipSync } from 'fflate';
import { cellRef, readXlsx } from 'hucre/xlsx';
import { formatBytes } from './amounts.ts';

/** A table of 100,000 cues has this size when it is unpacked. */
const MOST_BYTES = 100e6;

/** @returns the reason as a sentence if it cannot be read */
export async function readWorkbook(bytes: Uint8Array): Promise<readonly (readonly string[])[] | string> {
  try {
    const size = unpackedSize(bytes);
    if (size > MOST_BYTES)
      return `is ${formatBytes(size)} when it is unpacked; the limit is ${formatBytes(MOST_BYTES)}`;
    const [sheet] = (await readXlsx(bytes, { sheets: [0] })).sheets;
    const rows = sheet?.rows ?? [];
    for (const [at, row] of rows.entries()) {
      for (const [column, value] of row.entries()) {
        const cell = sheet?.cells?.get(`${at},${column}`);
        const what = cell?.formula !== undefined ? 'a formula' : value instanceof Date ? 'a date' : null;
        if (what !== null) return `has ${what} in cell ${cellRef(at, column)}; write its text instead`;
      }
    }
    const texts = rows.map((row) => row.map((value) => String(value ?? '')));
    return texts.filter((row) => row.some((text) => text.trim() !== ''));
  } catch (error) {
    return `is not a workbook (XLSX) that can be read: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** In bytes, as the archive declares it; the reader unpacks no more than that. */
function unpackedSize(bytes: Uint8Array): number {
  let size = 0;
  const filter = ({ originalSize }: UnzipFileInfo) => {
    size += originalSize;
    return false;
  };
  unzipSync(bytes, { filter });
  return size;
}
