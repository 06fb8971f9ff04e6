-- What one user holds, for statements that seldom ask: PostgreSQL plans the view each time it plans what reads it.
create function grants_of(holder bigint) returns setof grants language plpgsql stable rows 10 as $$
begin
  return query select * from grants where user_id = holder;
end $$;
