/**
 * Sound of the neighbours that each part carries beyond its own, in samples of 48 kHz. An AAC encoder that hears silence in
 * front of its first sample and behind its last codes both ends badly: the error there was 5 times that elsewhere. With sound on
 * both sides it is that elsewhere.
 */

/** In front, hidden by the edit list as the encoder's own delay is: two AAC frames; after one alone it was no better. */
export const SAMPLES_BEFORE = 2_048;

/**
 * Behind, heard after the last frame of the picture: two AAC frames that the joining takes, in place of the first two of the
 * next part, whose sound the service has encoded anew after silence; and two more for the encoders.
 */
export const SAMPLES_BEHIND = 4_096;
