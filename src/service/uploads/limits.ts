import { LIMITS } from '../../protocol/limits.ts';
import type { UploadPurpose } from '../../protocol/states.ts';

/** Number of bytes at which a file of that purpose is refused. Source: specification, "Limits". */
export const FIRST_REFUSED_SIZE: Readonly<Record<UploadPurpose, number>> = {
  source_video: LIMITS.videoBytes,
  subtitle_file: LIMITS.subtitleBytes,
};
