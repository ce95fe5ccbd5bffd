import { expect, test } from 'vitest';
import { masteringOptions } from '../../../src/media/encode/picture.ts';

const DISPLAY = {
  side_data_type: 'Mastering display metadata',
  ...{ red_x: '34000/50000', red_y: '16000/50000', green_x: '13250/50000', green_y: '34500/50000' },
  ...{ blue_x: '7500/50000', blue_y: '3000/50000' },
  ...{ white_point_x: '15635/50000', white_point_y: '16450/50000' },
  ...{ min_luminance: '1/10000', max_luminance: '10000000/10000' },
};
const LIGHT = { side_data_type: 'Content light level metadata', max_content: 1000, max_average: 400 };
const of = (...side_data_list: object[]) =>
  masteringOptions(JSON.stringify({ frames: [{ side_data_list }] }));

test('the display and the brightness of the film become options of the encoder', () => {
  expect(of(DISPLAY, LIGHT, { side_data_type: 'other' })).toBe(
    ':master-display=G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,1):max-cll=1000,400',
  );
});

test.each([
  ['no metadata', of()],
  ['no frame', masteringOptions('{"frames": []}')],
  ['no JSON', masteringOptions('frames')],
  ['a division by zero', of({ ...DISPLAY, red_x: '1/0' })],
  ['options in a value', of({ ...DISPLAY, red_x: '1/2:output=/tmp/x' })],
  ['an impossible brightness', of({ ...LIGHT, max_content: 1e9 })],
])('%s results in no options', (_name, options) => {
  expect(options).toBe('');
});
