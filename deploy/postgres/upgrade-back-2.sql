-- Take an upgrade back: fill the old tables
DO $$ DECLARE copy text; BEGIN
  FOR copy IN SELECT tablename FROM pg_tables WHERE schemaname = current_schema() AND tablename ~ '^before_'
    ORDER BY tablename !~ '_keys$', tablename !~ '_jobs$'
  LOOP EXECUTE format('INSERT INTO %I SELECT * FROM %I', regexp_replace(copy, '^before_\d+_', ''), copy); END LOOP;
END $$;
