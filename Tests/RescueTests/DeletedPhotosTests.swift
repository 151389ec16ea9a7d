import Files
import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Rescue

/// A store of photos in albums, from which an app deleted eight photos, and what it held before.
private struct PhotoStore {
  /// What became of the other side of the photos' one-to-one.
  enum Inverse: CaseIterable {
    /// It names the photos still, as it does without a delete rule.
    case kept
    /// It is empty, and was saved again.
    case nullified
    /// Its objects were deleted, too.
    case cascaded
  }

  static let model = """
    <model>
    <entity name="Album">
      <attribute name="title" optional="YES" attributeType="String"/>
      <relationship name="photos" optional="YES" toMany="YES" ordered="YES" destinationEntity="Photo" inverseName="albums"/>
    </entity>
    <entity name="Detail">
      <attribute name="camera" optional="YES" attributeType="String"/>
      <relationship name="photo" optional="YES" maxCount="1" destinationEntity="Photo" inverseName="detail"/>
    </entity>
    <entity name="Photo">
      <attribute name="taken" optional="YES" attributeType="Date"/>
      <attribute name="thumbnail" optional="YES" attributeType="Binary"/>
      <attribute name="title" optional="YES" attributeType="String"/>
      <relationship name="albums" optional="YES" toMany="YES" destinationEntity="Album" inverseName="photos"/>
      <relationship name="detail" optional="YES" maxCount="1" destinationEntity="Detail" inverseName="photo"/>
    </entity>
    </model>
    """

  let folder: TemporaryFolder
  let path: String
  let photos: [Int64: [Value]]
  let details: [Int64: [Value]]
  let links: Set<[Value]>

  /// Deletes p31 to p38: the bytes of p36 and p37 are gone, and p30 is then saved where p31's last ones were.
  init(_ inverse: Inverse) throws {
    folder = try TemporaryFolder()
    path = folder.path("Photos.sqlite")
    try StoreCreation.create(
      at: path, model: try Model(contents: Array(Self.model.utf8)),
      uuid: "5AD0BC53-7A4C-4A41-8B8D-6D2F5D8C7E10")
    let connection = try Connection(path: path, mode: .create)
    try StoreFunctions.define(on: connection)
    try connection.execute("PRAGMA journal_mode = DELETE; PRAGMA secure_delete = OFF; BEGIN")
    for album in 1...12 as ClosedRange<Int64> {
      try connection.run(
        "INSERT INTO ZALBUM (Z_PK, Z_ENT, Z_OPT, ZTITLE) VALUES (?, 1, 1, 'Album ' || ?1)",
        [.integer(album)])
    }
    var generator = SeededGenerator(seed: 31)
    for photo in 1...60 as ClosedRange<Int64> {
      let picture = (0..<195).map { _ in UInt8.random(in: 0...255, using: &generator) }
      try connection.run(
        """
        INSERT INTO ZPHOTO (Z_PK, Z_ENT, Z_OPT, ZDETAIL, ZTAKEN, ZTITLE, ZTHUMBNAIL) \
        VALUES (?1, 3, 1, ?1 + 3, 600000000.5 + 3601 * ?1, 'Holiday photo ' || ?1, ?2)
        """, [.integer(photo), .blob([1] + picture)])
      try connection.run(
        """
        INSERT INTO ZDETAIL (Z_PK, Z_ENT, Z_OPT, ZPHOTO, ZCAMERA) \
        VALUES (?1 + 3, 2, 1, ?1, 'Camera ' || ?1 % 5)
        """, [.integer(photo)])
      // Three albums each for p32 to p34, two for all others.
      for album in 0..<(32...34 ~= photo ? 3 : 2) as Range<Int64> {
        try connection.run(
          "INSERT INTO Z_1PHOTOS (Z_1ALBUMS, Z_3PHOTOS, Z_FOK_3PHOTOS) VALUES (?, ?, ?)",
          [
            .integer((photo * 5 + album * 3) % 12 + 1), .integer(photo),
            .integer(1024 * (61 - photo) + 7 * album),
          ])
      }
    }
    try connection.execute(
      """
      UPDATE Z_PRIMARYKEY SET Z_MAX = CASE Z_NAME WHEN 'Album' THEN 12 WHEN 'Detail' THEN 63 ELSE 60 END; \
      COMMIT
      """)
    photos = try Self.rows("ZPHOTO", connection)
    details = try Self.rows("ZDETAIL", connection)
    links = try Self.links(connection)
    let gone = "BETWEEN 31 AND 38"
    try connection.execute("BEGIN; DELETE FROM Z_1PHOTOS WHERE Z_3PHOTOS \(gone)")
    switch inverse {
    case .kept: break
    case .nullified:
      try connection.execute("UPDATE ZDETAIL SET ZPHOTO = NULL, Z_OPT = 2 WHERE ZPHOTO \(gone)")
    case .cascaded: try connection.execute("DELETE FROM ZDETAIL WHERE ZPHOTO \(gone)")
    }
    try connection.execute(
      """
      PRAGMA secure_delete = ON; DELETE FROM ZPHOTO WHERE Z_PK IN (36, 37); \
      PRAGMA secure_delete = OFF; DELETE FROM ZPHOTO WHERE Z_PK \(gone); COMMIT; \
      UPDATE ZPHOTO SET ZTITLE = ZTITLE || ' by the sea', Z_OPT = 2 WHERE Z_PK = 30
      """)
    connection.close()
  }

  static func rows(_ table: String, _ connection: Connection) throws -> [Int64: [Value]] {
    Dictionary(
      try connection.rows("SELECT * FROM \(table)").map {
        ($0[0].integer ?? 0, Array($0.dropFirst()))
      }
    ) { first, _ in first }
  }

  static func links(_ connection: Connection) throws -> Set<[Value]> {
    Set(
      try connection.rows("SELECT Z_3PHOTOS, Z_1ALBUMS, Z_FOK_3PHOTOS FROM Z_1PHOTOS"))
  }
}

@Suite("Eight photos that were deleted from their albums")
struct DeletedPhotosTests {
  @Test(
    "photos come back under their own keys, with their details and their places in the albums",
    arguments: PhotoStore.Inverse.allCases)
  fileprivate func restored(inverse: PhotoStore.Inverse) throws {
    let store = try PhotoStore(inverse)
    let undeletion = try Undeletion(of: store.path)
    let whole: [Int64] = inverse == .nullified ? [32, 33, 34, 35] : [32, 33, 34, 35, 38]
    for key in whole {
      let origin = try #require(
        try undeletion.origin(of: ObjectID(entity: "Photo", key: key)), "p\(key)")
      #expect(origin.state == .deleted && origin.key == key && origin.isWhole, "\(origin)")
    }
    let part = try #require(try undeletion.origin(of: ObjectID(entity: "Photo", key: 31)))
    #expect(part.state == .deleted && part.key == 31 && !part.isWhole, "\(part)")
    let found = try #require(undeletion.entities.first { $0.name == "Photo" })
    // Where the details were saved again, nothing tells p38 from p36 and p37.
    #expect(found.deleted == 6 && found.partial == 1)
    #expect(found.keyless == (inverse == .nullified ? 1 : 0))
    let missed = try #require(undeletion.missed.first { $0.entity == "Photo" })
    #expect(missed.keys == 8 && missed.least == 2)

    let output = store.folder.path("Restored.sqlite")
    let report = try Restoration(undeletion).run(.all(entity: nil), output: output)
    #expect(report.restored["Photo"] == 6 && report.refused.isEmpty && report.partial == 1)
    let connection = try Connection(path: output, mode: .immutable)
    let (photos, details) = (
      try PhotoStore.rows("ZPHOTO", connection), try PhotoStore.rows("ZDETAIL", connection)
    )
    for key in whole {
      #expect(photos[key] == store.photos[key], "p\(key)")
      // What was saved when the photo went has one save more.
      #expect(details[key + 3]?.dropFirst(2) == store.details[key + 3]?.dropFirst(2))
    }
    // Of the eighth photo nothing but its last values is lost.
    let (before, after) = (try #require(store.photos[31]), try #require(photos[31]))
    let lost = zip(before, after).filter { $0 != $1 }
    #expect(lost.count == 1 && lost.allSatisfy { $1 == .null }, "\(after)")
    #expect(photos[36] == nil && photos[37] == nil)
    for (key, row) in store.photos where !(30...38 ~= key) { #expect(photos[key] == row) }

    let links = try PhotoStore.links(connection)
    #expect(links.isSubset(of: store.links))
    let own = store.links.filter { link in whole.contains { link[0] == .integer($0) } }
    #expect(own.count == (inverse == .nullified ? 11 : 13))
    #expect(links.isSuperset(of: own), "\(own.subtracting(links))")
  }
}
