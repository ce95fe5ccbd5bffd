import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { escapeControls, escapeRows } from '../../../src/cli/terminal/escape.ts';
import { anyText } from '../../protocol/arbitraries.ts';

describe('text from outside', () => {
  it('shows control and reordering characters instead of interpreting them', () => {
    expect(escapeControls('a\u001b[31mb\u202ec\u0007')).toBe('a\\u001b[31mb\\u202ec\\u0007');
  });

  it('never keeps a control character, whatever the text', () => {
    fc.assert(
      fc.property(anyText(), (text) => {
        // biome-ignore lint/suspicious/noControlCharactersInRegex: looking for them is the point
        expect(escapeControls(text)).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
      }),
    );
  });

  it('keeps letters of every script and emoji as they are', () => {
    expect(escapeControls('Übung 字幕 😀')).toBe('Übung 字幕 😀');
  });

  it('keeps line breaks only if rows are allowed', () => {
    expect(escapeControls('a\nb')).toBe('a\\u000ab');
    expect(escapeRows('a\nb\r')).toBe('a\nb\\u000d');
  });
});
