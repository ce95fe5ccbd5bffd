import { type Command, defineCommand } from '../context/command.ts';
import { createKeeper } from '../context/connection.ts';
import { printRecord } from '../context/records.ts';
import { unknownProfile } from '../profiles/layers.ts';
import { checkProfileName, findProfile, type Profile } from '../profiles/profile.ts';
import { forgetSecrets, PROFILE_FIELDS, PROFILES, profileStore, showProfile } from './profile-records.ts';

export const profileRemove: Command = defineCommand({
  operands: { name: 'name', count: 'one', help: 'name of the profile' },
  options: {},
  fields: () => PROFILE_FIELDS,
  examples: [
    { command: 'vloc profile remove staging', explains: 'its secrets leave the keychain too' },
    {
      command: 'vloc profile list -o id | grep ^test- | xargs -n 1 vloc profile remove',
      explains: 'several, by their names',
    },
  ],
  run: async (context, [name = '']) => {
    checkProfileName(name);
    const store = profileStore(context);
    let removed: Profile | undefined;
    await store.change(({ current, ...document }) => {
      removed = findProfile(document, name);
      if (removed === undefined) throw unknownProfile(name, document, store.path);
      const profiles = document.profiles.filter((profile) => profile.name !== name);
      const kept = { ...document, profiles };
      if (current === undefined) return kept;
      if (current !== name) return { ...kept, current };
      context.terminal.note('It was in use; runs go to the embedded service now.');
      return kept;
    });
    if (removed === undefined) return 0;
    await forgetSecrets(createKeeper(context), removed);
    await printRecord(context, PROFILES, showProfile(removed, undefined));
    return 0;
  },
});
