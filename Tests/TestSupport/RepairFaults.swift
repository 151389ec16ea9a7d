/// Faults of a demo store, by SQL, that `strata repair` mends without being asked for a choice.
public enum RepairFaults {
  /// Low counters, links and rows of join tables to nothing, and an entity without a number.
  public static let sql = """
    UPDATE Z_PRIMARYKEY SET Z_MAX = 1;
    DELETE FROM Z_PRIMARYKEY WHERE Z_NAME = 'Tag';
    UPDATE ZSTEP SET ZRECIPE = 88888 WHERE Z_PK % 3 = 1;
    INSERT INTO Z_8TAGS VALUES (70001, 70002), (70003, 70004);
    """
}
