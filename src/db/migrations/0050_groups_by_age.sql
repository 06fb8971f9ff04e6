-- Groups right below a group in the order of their ids: walked among all there are, the oldest and the newest were far.
create index groups_parent_id on namespaces (parent_id, id) where kind = 'group';
