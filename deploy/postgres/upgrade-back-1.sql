-- Take an upgrade back: remove the new tables
DO $$ DECLARE name text; BEGIN
  FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = current_schema()
    AND tablename !~ '^before_' AND tablename NOT IN ('vloc_version', 'nonces', 'rates')
  LOOP EXECUTE format('DROP TABLE %I CASCADE', name); END LOOP;
  UPDATE vloc_version SET version = 0;
END $$;
