/** The part of media-captions that is used; its own declarations lack the file endings that Node's resolution asks for. */
declare module 'media-captions' {
  export function parseText(
    text: string,
    options: { type: 'vtt'; strict: boolean },
  ): Promise<{ cues: readonly { startTime: number; endTime: number; text: string }[] }>;
}
