import Files
import ManagedModel
import TestSupport
import Testing

@testable import ManagedStore

@Suite("Where external data is")
struct ExternalPlaceTests {
  private static let model = """
    <model><entity name="Note"><attribute name="scan" optional="YES" attributeType="Binary"
    allowsExternalBinaryDataStorage="YES"/></entity></model>
    """

  /// A store of three notes with a file each.
  private struct Place {
    let folder: TemporaryFolder
    let path: String
    let files: StoreFiles
    let names: [String]

    init() throws {
      folder = try TemporaryFolder()
      path = folder.path("in/Notes.sqlite")
      try FileSystem.makeDirectory(folder.path("in"))
      let writer = try StoreWriter(
        creating: path, model: Model(contents: Array(ExternalPlaceTests.model.utf8)),
        uuid: "9F2C41D0-0000-4000-8000-000000000001")
      for byte in [1, 2, 3] as [UInt8] {
        try writer.insert(
          "Note", attributes: ["scan": .bytes([UInt8](repeating: byte, count: 200_000))])
      }
      try writer.finish()
      files = StoreFiles(path: path)
      names = try FileSystem.list(files.externalDataFolder)
    }

    func file(_ index: Int) -> String { files.externalDataFolder + "/" + names[index] }
  }

  @Test("a link in the folder is not followed, and not missing")
  func inside() throws {
    let place = try Place()
    FileSystem.remove(place.file(0))
    #expect(symbolicLink(place.file(0), to: place.names[1]))
    FileSystem.remove(place.file(2))
    #expect(symbolicLink(place.file(2), to: place.file(1)))
    let store = try Store(path: place.path)
    let report = try store.externalData()
    #expect(report.missing == [] && report.orphaned == [] && report.referenced == 3)
    #expect(report.unreadable.map(\.name) == [place.names[0], place.names[2]])
    #expect(report.unreadableSentences.first?.contains("2 of 3 external data files") == true)
    let cursor = try ObjectCursor(store, entity: "Note")
    var sizes: [Int] = []
    while let object = try cursor.next() {
      if case .data(let data) = object.attributes[0] { sizes.append(data.bytes.count) }
    }
    #expect(sizes.sorted() == [0, 0, 200_000])
    #expect(try store.externalFiles().files.count { $0.state == .unreadable } == 2)
  }

  @Test(
    "a file without permission is not missing, nor are those of a folder without it",
    .enabled(if: geteuid() == 0, "only root can become another user"), arguments: [0, 1, 2])
  func withoutPermission(kind: Int) async throws {
    let place = try Place()
    switch kind {
    case 0: chmod(place.file(0), 0)
    case 1: chmod(place.files.externalDataFolder, 0)
    default: chmod(place.files.externalDataFolder, 0o311)
    }
    chmod(place.folder.path, 0o755)
    await #expect(processExitsWith: .success) { [path = place.path as String, kind = kind as Int] in
      seteuid(65534)
      let report = try Store(path: path).externalData()
      #expect(report.missing == [] && report.orphaned == [])
      #expect(report.unreadable.count == [1, 3, 0][kind], "\(report)")
      #expect((report.unlisted != nil) == (kind > 0), "\(report)")
      #expect(!report.unreadableSentences.isEmpty)
    }
    chmod(place.files.externalDataFolder, 0o700)
  }

  @Test("a FIFO in a file's place is not waited for, and not missing")
  func fifo() throws {
    let place = try Place()
    FileSystem.remove(place.file(0))
    #expect(mkfifo(place.file(0), 0o600) == 0)
    let report = try Store(path: place.path).externalData()
    #expect(report.missing == [] && report.unreadable.map(\.name) == [place.names[0]])
  }

  @Test("a link that leads out of the folder is never followed, and told", arguments: [0, 1, 2])
  func outside(kind: Int) throws {
    let place = try Place()
    let secret = place.folder.path("secret")
    try FileSystem.makeDirectory(secret)
    try FileSystem.write(Array("secret".utf8), to: secret + "/" + place.names[0])
    let (support, data) = (place.files.supportFolder, place.files.externalDataFolder)
    switch kind {
    case 0:
      FileSystem.remove(place.file(0))
      #expect(symbolicLink(place.file(0), to: secret + "/" + place.names[0]))
    case 1:
      FileSystem.removeTree(data)
      #expect(symbolicLink(data, to: "../../secret"))
    default:
      FileSystem.removeTree(support)
      try FileSystem.rename(secret, to: place.folder.path("_EXTERNAL_DATA"))
      #expect(symbolicLink(support, to: ".."))
    }
    let store = try Store(path: place.path)
    let report = try store.externalData()
    #expect(report.unreadable.map(\.name).contains(place.names[0]))
    #expect(report.missing == [] && report.orphaned == [])
    let object = try ObjectCursor(store, entity: "Note")
    while let next = try object.next() {
      if case .data(let data) = next.attributes[0] {
        #expect(!data.bytes.starts(with: Array("secret".utf8)))
      }
    }
    #expect(report.unreadableSentences.contains { $0.contains("not followed") })
  }
}
