/** What a subtitle file may hold before it is split: ten times what the service takes at once. */
import { LIMITS } from '../../protocol/limits.ts';

export const MOST_CUES = 10 * LIMITS.subtitleLines;
