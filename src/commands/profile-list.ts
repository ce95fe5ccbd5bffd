import { type Command, defineCommand } from '../context/command.ts';
import { printList } from '../context/records.ts';
import { PROFILE_FIELDS, PROFILES, profileStore, showProfiles } from './profile-records.ts';

export const profileList: Command = defineCommand({
  options: {},
  fields: () => PROFILE_FIELDS,
  examples: [
    { command: 'vloc profile list', explains: 'all profiles, the embedded service first' },
    { command: 'vloc profile list --output id', explains: 'their names alone' },
  ],
  run: async (context) => {
    const data = showProfiles(await profileStore(context).read());
    await printList(context, PROFILES, { data, has_more: false, next_cursor: null });
    return 0;
  },
});
