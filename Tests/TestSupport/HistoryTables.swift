/// The tables of persistent history, and the mirror's of records, in stores that tests write: the columns that strata
/// reads, without indexes.
public enum HistoryTables {
  /// Statements that make the tables of history and register them.
  ///
  /// - Parameters:
  ///   - last: the greatest numbers that changes, transactions and texts were given.
  ///   - hasTombstone: whether a change keeps a value of what was deleted.
  public static func statements(
    last: (change: Int, transaction: Int, text: Int) = (0, 0, 0), hasTombstone: Bool = false
  ) -> String {
    """
    CREATE TABLE ATRANSACTION (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER,
      ZAUTHORTS INTEGER, ZBUNDLEIDTS INTEGER, ZCONTEXTNAMETS INTEGER, ZPROCESSIDTS INTEGER,
      ZTIMESTAMP FLOAT, ZAUTHOR VARCHAR, ZBUNDLEID VARCHAR, ZCONTEXTNAME VARCHAR,
      ZPROCESSID VARCHAR, ZQUERYGEN BLOB);
    CREATE TABLE ATRANSACTIONSTRING (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER,
      ZNAME VARCHAR);
    CREATE TABLE ACHANGE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER,
      ZCHANGETYPE INTEGER, ZENTITY INTEGER, ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER,
      ZCOLUMNS BLOB\(hasTombstone ? ", ZTOMBSTONE0 BLOB" : ""));
    INSERT INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES
      (16001, 'CHANGE', 0, \(last.change)), (16002, 'TRANSACTION', 0, \(last.transaction)),
      (16003, 'TRANSACTIONSTRING', 0, \(last.text));

    """
  }

  /// A statement that makes the mirror's table of records: with it a store is mirrored to iCloud.
  public static let mirror = """
    CREATE TABLE ANSCKRECORDMETADATA (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER,
      ZENTITYID INTEGER, ZENTITYPK INTEGER, ZNEEDSUPLOAD INTEGER, ZNEEDSCLOUDDELETE INTEGER,
      ZCKRECORDNAME VARCHAR);

    """
}
