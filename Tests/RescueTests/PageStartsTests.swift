import Files
import SQLite
import TestSupport
import Testing

@testable import Salvage

@Suite("Where pages begin of a file that lost line ends")
struct PageStartsTests {
  /// - Parameter first: with what the next page begins: 0A as well, where it is a leaf of an index.
  @Test(
    "a leaf of which every row is whole lost nothing, wherever the next page seems to begin",
    arguments: [0x00, 0x0A] as [UInt8])
  func besideUnknownBeginning(first: UInt8) throws {
    let folder = try TemporaryFolder()
    let path = folder.path("ends.sqlite")
    let connection = try Connection(path: path, mode: .create)
    // Line ends in all rows but the first, which ends the page.
    try connection.execute(
      """
      PRAGMA page_size = 4096; CREATE TABLE a (t TEXT, n INTEGER); CREATE TABLE b (t BLOB);
      INSERT INTO a VALUES ('no end here', 0);
      INSERT INTO a WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60)
      SELECT 'row ' || i || char(10) || 'and its second line', i FROM n;
      INSERT INTO b VALUES (CAST(x'0001' || hex(zeroblob(2500)) AS BLOB))
      """)
    connection.close()
    var bytes = try FileSystem.read(path)
    try #require(bytes.count == 4 * 4096)
    // That leaf comes before the rest of the long value, which no number shows.
    let (leaf, other) = (Array(bytes[4096..<2 * 4096]), Array(bytes[2 * 4096..<3 * 4096]))
    bytes.replaceSubrange(4096..<3 * 4096, with: other + leaf)
    bytes[3 * 4096] = first
    let place = 3 * 4096 + 300
    bytes.replaceSubrange(place..<place + 2, with: [0x0D, 0x0A])
    let header = FileHeader(Array(bytes[..<100]))
    try FileSystem.write(MovedBytesTests.withoutPairs(bytes), to: path)
    let file = try OpenFile(path)
    let lost = header.pages * 4096 - file.size
    try #require(lost == 1)
    let gone = try #require(
      try PageStarts(file, header, pageSize: 4096, lost: lost).gone())
    #expect(gone == [0, 0, 0, 0, 1])
  }

  @Test("an index that lost a byte is not taken for whole where its entries look like shorter ones")
  func lineFeedOfIndex() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("index.sqlite")
    let connection = try Connection(path: path, mode: .create)
    // 3338 is 0D 0A; the entries that were added before it stand behind it.
    try connection.execute(
      """
      PRAGMA page_size = 4096; CREATE TABLE a (n INTEGER); CREATE INDEX i ON a (n);
      CREATE TABLE b (t TEXT); INSERT INTO b VALUES ('one' || char(10)), ('two');
      INSERT INTO a (rowid, n) VALUES (2, 3000), (3, 3100), (4, 3200), (5, 3400), (6, 3500),
      (7, 3338), (8, 3600), (9, 3700)
      """)
    connection.close()
    let bytes = try FileSystem.read(path)
    try #require(bytes.count == 4 * 4096)
    let header = FileHeader(Array(bytes[..<100]))
    try FileSystem.write(MovedBytesTests.withoutPairs(bytes), to: path)
    let file = try OpenFile(path)
    let lost = header.pages * 4096 - file.size
    try #require(lost == 2)
    let gone = try #require(
      try PageStarts(file, header, pageSize: 4096, lost: lost).gone())
    #expect(gone == [0, 0, 1, 2, 2])
  }

  @Test("nine bytes that one page lost are found, whatever the page behind it seems to begin with")
  func nineOfOnePage() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("nine.sqlite")
    let connection = try Connection(path: path, mode: .create)
    // 3338 is 0D 0A. The line end of the first page may have been one of two bytes, too: from a beginning of the second
    // page that is one byte off, eight bytes lead to the third.
    try connection.execute(
      """
      PRAGMA page_size = 4096; CREATE TABLE a (n INTEGER
      ); CREATE TABLE b (t TEXT);
      INSERT INTO a WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 90)
      SELECT iif(i % 10 = 5, 3338, 2 + i) FROM n;
      INSERT INTO b VALUES ('one' || x'0D0A' || 'two'), ('three' || char(10) || 'four')
      """)
    connection.close()
    #expect(try gone(path, lost: 10) == [0, 0, 9, 10])
  }

  @Test(
    "a page that the pointer map has in a tree begins as one, where something else seems to be as likely"
  )
  func ofTree() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("tree.sqlite")
    let connection = try Connection(path: path, mode: .create)
    // Four bytes before its beginning the page of b seems to be the rest of a value that goes on on page 4.
    try connection.execute(
      """
      PRAGMA page_size = 4096; CREATE TABLE a (t BLOB); CREATE TABLE b (n INTEGER);
      CREATE TABLE c (n INTEGER);
      INSERT INTO a VALUES (x'0A0B0A0B0A0B0A0B0A0B0D0A0B00000004'), (x'01');
      INSERT INTO b WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50)
      SELECT iif(i % 10 = 5, 3338, 2 + i) FROM n
      """)
    connection.close()
    let unmapped = try gone(path, lost: 6)
    #expect(unmapped[2] == nil, "\(unmapped)")
    #expect(
      try gone(path, lost: 6, kinds: [nil, .root, .root, .root]) == [0, 0, 1, 6, 6])
  }

  /// - Parameter lost: how many pairs the file has, all of which go.
  private func gone(
    _ path: String, lost: Int, kinds: [PointerMap.Kind?] = []
  ) throws -> [Int?] {
    let (header, short) = try withoutPairs(path)
    let file = try OpenFile(short)
    try #require(header.pages * 4096 - file.size == lost)
    return try #require(
      try PageStarts(file, header, pageSize: 4096, lost: lost, kinds: kinds).gone())
  }

  private func withoutPairs(_ path: String) throws -> (header: FileHeader, path: String) {
    let bytes = try FileSystem.read(path)
    try FileSystem.write(MovedBytesTests.withoutPairs(bytes), to: path + ".short")
    return (FileHeader(Array(bytes[..<100])), path + ".short")
  }

  @Test("two bytes that are gone from a long list of cells are put back where they were")
  func twoOfList() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("list.sqlite")
    let connection = try Connection(path: path, mode: .create)
    // Rows of ten bytes, of which one begins at 3338, 0D 0A, and after longer ones one at 2573, 0A 0D 0A.
    try connection.execute(
      """
      PRAGMA page_size = 4096; CREATE TABLE a (n INTEGER, t BLOB);
      INSERT INTO a WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
      SELECT 1000000 + i, zeroblob(CASE i WHEN 1 THEN 15 WHEN 90 THEN 15 ELSE 0 END)
      FROM n
      """)
    connection.close()
    let bytes = try FileSystem.read(path)
    let page = Array(bytes[4096..<2 * 4096])
    let short = MovedBytesTests.withoutPairs(page)
    try #require(short.count == 4094)
    let mended = ShortenedPage(
      short, followedBy: nil, number: 2, pageSize: 4096,
      header: FileHeader(Array(bytes[..<100]))
    ).mended()
    #expect(mended?.page == page)
    #expect(mended?.dropped == 0)
  }
}
