import { describe, expect, it } from 'vitest';
import { forecastPlan } from '../../../src/batch/plan/dry-run.ts';
import { createFolder, MP4, plan } from './support.ts';

const purse = { price: () => 0.1, balance: 5 };

describe('the forecast of a plan', () => {
  it('counts jobs, uploads, units and credits', async () => {
    const cwd = createFolder({ 'a.mp4': MP4, 'b.mp4': MP4 });
    const { planned } = await plan(cwd, ['a.mp4', 'b.mp4'], { options: { to: ['es', 'fr'] } });
    const found = forecastPlan('auto_localization', planned, purse);
    expect(found).toMatchObject({
      jobs: 4,
      uploads: 2,
      upload_bytes: 32,
      quantity: 8,
      credits: 0.8,
      balance: 5,
    });
    expect(found.items[1]).toMatchObject({
      input: 'a.mp4',
      target_language: 'fr',
      quantity: 2,
      credits: 0.2,
    });
  });

  it('does not count existing results', async () => {
    const cwd = createFolder({ 'a.mp4': MP4, 'a.es.mp4': 'x' });
    const { planned } = await plan(cwd, ['a.mp4'], { options: { to: ['es'], skipExisting: true } });
    expect(forecastPlan('auto_localization', planned, purse)).toMatchObject({
      jobs: 0,
      done_before: 1,
      uploads: 0,
      credits: 0,
      items: [{ status: 'done before', credits: 0 }],
    });
  });

  it('has no sum if a size or the price is unknown', async () => {
    const cwd = createFolder({ 'a.mp4': MP4 });
    const unmeasured = await plan(cwd, ['a.mp4'], {
      io: { examineVideo: async () => ({ type: 'usable', seconds: null, preparation: null }) },
    });
    expect(forecastPlan('auto_localization', unmeasured.planned, purse)).toMatchObject({
      unmeasured: 1,
      credits: null,
    });
    const priceless = { price: () => null, balance: null };
    const { planned } = await plan(cwd, ['a.mp4']);
    expect(forecastPlan('auto_localization', planned, priceless)).toMatchObject({
      unmeasured: 0,
      credits: null,
    });
  });
});
