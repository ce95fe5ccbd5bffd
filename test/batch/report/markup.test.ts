import { describe, expect, it } from 'vitest';
import { plainText, readMarkup } from '../../../src/batch/report/markup.ts';

/** Each run as its text, with its style in front: `ib#ff0000:text`. */
const runs = (text: string) =>
  readMarkup(text).map(({ text: words, isItalic, isBold, isUnderlined, color }) => {
    const style = `${isItalic ? 'i' : ''}${isBold ? 'b' : ''}${isUnderlined ? 'u' : ''}${color?.css ?? ''}`;
    return style === '' ? words : `${style}:${words}`;
  });

describe('markup of subtitles', () => {
  it('is read as styles, nested and in any case', () => {
    expect(runs('a <i>b <B>c</B></i> <u>d</u>')).toEqual(['a ', 'i:b ', 'ib:c', ' ', 'u:d']);
  });

  it('need not be closed, nor closed in order', () => {
    expect(runs('</i>a<i>b')).toEqual(['a', 'i:b']);
    expect(runs('<i>a<b>b</i>c')).toEqual(['i:a', 'ib:b', 'b:c']);
  });

  it.each([
    ['<font color="#ff0">a</font>b', ['#ffff00:a', 'b']],
    ['<font face=Arial color=Red>a', ['#ff0000:a']],
    ["<font color='#00FF00'>a<font size=2>b</font></font>c", ['#00ff00:a', '#00ff00:b', 'c']],
    ['<font color="url(x)">a</font>', ['a']],
    ['<font color="constructor">a</font>', ['a']],
  ])('has colours, as names and as digits: %s', (text, expected) => {
    expect(runs(text)).toEqual(expected);
  });

  it('puts a colour on a background on which it is readable', () => {
    const ground = (name: string) => readMarkup(`<font color=${name}>a`)[0]?.color?.ground;
    expect(['yellow', 'white', 'navy', 'black'].map(ground)).toEqual(['#000', '#000', '#fff', '#fff']);
  });

  it.each(['<script>alert(1)</script>', '<img src=x onerror=alert(1)>', 'a < b', '<i/>', '<c.loud>x</c>'])(
    'shows everything else as text: %s',
    (text) => {
      expect(runs(text)).toEqual([text]);
      expect(plainText(text)).toBe(text);
    },
  );

  it('is not part of the text to search', () => {
    expect(plainText('<i>good</i> <font color=red>day</font>')).toBe('good day');
  });
});
