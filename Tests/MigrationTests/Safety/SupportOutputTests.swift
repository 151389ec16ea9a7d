import Files
import ManagedModel
import ManagedStore
import TestSupport
import Testing

@testable import Migration

@Suite("The support folder of a result that is written elsewhere")
struct SupportOutputTests {
  /// A store whose support folder holds more than external data.
  private struct Place {
    let place: SafetyPlace
    let support: String

    init() throws {
      place = try SafetyPlace(books: 9)
      support = place.folder.path(".Library_SUPPORT")
      try FileSystem.makeDirectory(support + "/other/inner")
      try FileSystem.write([1], to: support + "/other/inner/keep")
    }

    var output: String { place.folder.path("Out.sqlite") }

    func run() throws -> MigrationReceipt {
      var options = MigrationOptions()
      options.output = output
      return try StoreMigration.runAndRead(
        SafetyCase.inPlace.plan(place.path, output: output), options: options)
    }
  }

  @Test("has all that is in it: other files, sub-folders, links as links, each told")
  func whole() throws {
    let place = try Place()
    let data = place.support + "/_EXTERNAL_DATA/"
    let name = try #require(try FileSystem.list(data).first)
    try FileSystem.rename(data + name, to: data + "MOVED")
    #expect(symbolicLink(data + name, to: "MOVED"))
    #expect(symbolicLink(place.support + "/nowhere", to: "nothing"))
    let receipt = try place.run()
    #expect(receipt.externalData.missing == [])
    #expect(receipt.externalData.unreadable.map(\.name) == [name])
    let copy = place.place.folder.path(".Out_SUPPORT")
    #expect(
      try FileSystem.list(copy) == ["_EXTERNAL_DATA", "nowhere", "other"])
    #expect(try FileSystem.read(copy + "/other/inner/keep") == [1])
    #expect(FileSystem.target(ofLink: copy + "/_EXTERNAL_DATA/" + name) == "MOVED")
    #expect(try Store(path: place.output).externalData().missing == [])
    for link in [name, "nowhere"] {
      #expect(receipt.notes.contains { $0.contains(link) }, "\(receipt.notes)")
    }
  }

  @Test("a link that leads out is refused and told by name, and nothing is left")
  func outside() throws {
    for target in ["../../secret", "../..", "inside"] {
      let place = try Place()
      try FileSystem.write([7], to: place.place.folder.path("secret"))
      let before = try SafetyPlace.files(in: place.place.folder.path)
      let link = place.support + "/_EXTERNAL_DATA/LINK"
      // By its whole path, it would lead from the copy back to the original.
      let inside = place.support + "/other/inner/keep"
      #expect(symbolicLink(link, to: target == "inside" ? inside : target))
      let error = #expect(throws: CoreDataError.self) { _ = try place.run() }
      #expect(error?.kind == .refused && error?.path == link, "\(String(describing: error))")
      FileSystem.remove(link)
      #expect(try SafetyPlace.files(in: place.place.folder.path) == before)
    }
  }

  @Test("a folder that another store uses as well is added to, file by file")
  func shared() throws {
    let place = try Place()
    let folder = place.place.folder.path(".Out_SUPPORT")
    try FileSystem.makeDirectory(folder + "/other")
    try FileSystem.write([9], to: folder + "/other/theirs")
    _ = try place.run()
    #expect(try FileSystem.list(folder + "/other") == ["inner", "theirs"])
    #expect(try FileSystem.read(folder + "/other/inner/keep") == [1])
    #expect(try Store(path: place.output).externalData().missing == [])
    // Another content under the same name: whose it is, nobody knows.
    FileSystem.remove(place.output)
    try FileSystem.write([8], to: folder + "/other/inner/keep")
    let error = #expect(throws: CoreDataError.self) { _ = try place.run() }
    #expect(error?.message.contains("with other content") == true)
    #expect(try FileSystem.read(folder + "/other/inner/keep") == [8])
    #expect(FileSystem.status(place.output) == nil)
  }
}
