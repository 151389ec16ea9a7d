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
}
