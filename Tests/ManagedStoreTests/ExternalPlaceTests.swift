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

  @Test("a link to another file in the folder is followed, and told")
  func inside() throws {
    let place = try Place()
    FileSystem.remove(place.file(0))
    #expect(symbolicLink(place.file(0), to: place.names[1]))
    FileSystem.remove(place.file(2))
    #expect(symbolicLink(place.file(2), to: place.file(1)))
    let store = try Store(path: place.path)
    let report = try store.externalData()
    #expect(report.missing == [] && report.outside == [] && report.referenced == 3)
    #expect(report.linked == [place.names[0], place.names[2]])
    #expect(report.linkSentences.count == 1)
    let cursor = try ObjectCursor(store, entity: "Note")
    var sizes: [Int] = []
    while let object = try cursor.next() {
      if case .data(let data) = object.attributes[0] { sizes.append(data.bytes.count) }
    }
    #expect(sizes == [200_000, 200_000, 200_000])
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
    #expect(report.outside == [place.names[0]])
    #expect(report.missing.contains(place.names[0]))
    let object = try ObjectCursor(store, entity: "Note")
    while let next = try object.next() {
      if case .data(let data) = next.attributes[0] {
        #expect(!data.bytes.starts(with: Array("secret".utf8)))
      }
    }
    #expect(report.linkSentences.contains { $0.contains("not followed") })
  }
}
