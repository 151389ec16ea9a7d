import Files
import ManagedModel
import ManagedStore
import TestSupport
import Testing

@testable import Commands
@testable import Containers
@testable import strata

@Suite("Containers that are refused")
struct ContainerRefusalTests {
  private let folder: TemporaryFolder
  private let store: [UInt8]

  init() throws {
    folder = try TemporaryFolder()
    store = try FileSystem.read(DemoCommand.write(to: folder.path("demo"), objects: 50).store)
  }

  private func written(_ bytes: [UInt8], as name: String = "file") throws -> String {
    try FileSystem.write(bytes, to: folder.path(name))
    return folder.path(name)
  }

  private func expectRefusal(_ path: String, naming text: String, limits: ContainerLimits? = nil) {
    if let limits {
      let error = #expect(throws: CoreDataError.self) {
        try Container(path, limits: limits).stores()
      }
      #expect(error?.message.contains(text) == true, "\(error.map { "\($0)" } ?? "")")
      return
    }
    for words in [["stores", path], ["dump", path]] {
      let result = Captured(words)
      #expect(result.status == .unreadable, "\(words) \(result.out)")
      #expect(result.err.contains(text), "\(result.err)")
      #expect(result.err.contains(path))
    }
  }

  @Test(
    "names that lead out of it, in a ZIP and in a tar archive",
    arguments: ["../evil.sqlite", "a/../../evil.sqlite", "/../evil.sqlite", "..", "a/b/.."])
  func names(_ name: String) throws {
    var zip = ZipWriter()
    try zip.add("App.sqlite", store)
    try zip.add(name, store)
    expectRefusal(try written(zip.bytes), naming: "“\(name)”")
    var tar = TarWriter()
    tar.add("App.sqlite", store)
    tar.add(name, store)
    expectRefusal(try written(tar.bytes), naming: "“\(name)”")
    expectRefusal(try written(tar.packed), naming: "“\(name)”")
    #expect(FileSystem.status(folder.path("../evil.sqlite")) == nil)
  }

  @Test("links that matter, and none that does not", arguments: ["App.sqlite", "App.sqlite-wal"])
  func links(_ name: String) throws {
    let others = name == "App.sqlite" ? [] : ["App.sqlite"]
    var zip = ZipWriter()
    for other in others { try zip.add(other, store) }
    try zip.add(name, Array("/etc/passwd".utf8), mode: 0o120777)
    expectRefusal(try written(zip.bytes), naming: "“\(name)” in it is a link")
    for type: Character in ["1", "2"] {
      var tar = TarWriter()
      for other in others { tar.add(other, store) }
      tar.add(name, type: type, link: "/etc/passwd")
      expectRefusal(try written(tar.packed), naming: "“\(name)” in it is a link")
    }
    // A folder on the way to it.
    var tar = TarWriter()
    tar.add("folder", type: "2", link: "/tmp")
    tar.add("folder/App.sqlite", store)
    expectRefusal(try written(tar.bytes), naming: "“folder” in it is a link")
    // Somewhere else it is nobody's.
    var harmless = ZipWriter()
    try harmless.add("readme", Array("/etc/passwd".utf8), mode: 0o120777)
    try harmless.add("App.sqlite", store)
    let path = try written(harmless.bytes)
    #expect(Captured("dump", path).status == .done)
  }

  @Test("a link in an app's data, and external data that is one")
  func linksInFolders() throws {
    let path = folder.path("x.xcappdata")
    try FileSystem.makeDirectory(path + "/AppData/.App_SUPPORT/_EXTERNAL_DATA")
    try FileSystem.write(store, to: path + "/AppData/App.sqlite")
    #expect(Captured("stores", path).status == .done)
    #expect(symbolicLink(path + "/AppData/.App_SUPPORT/_EXTERNAL_DATA/AAAA", to: "/etc/passwd"))
    expectRefusal(path, naming: "_EXTERNAL_DATA/AAAA” in it is a link")
  }

  @Test("10 GB of zeros in a ZIP, by what its directory says")
  func zeros() throws {
    var zip = ZipWriter()
    try zip.add("App.sqlite", store)
    try zip.add(
      "zeros.bin", [0], lie: .init(bytes: 10 << 30, packed: 10 << 20))
    expectRefusal(try written(zip.bytes), naming: "“zeros.bin”")
  }

  @Test("zeros in a packed tar archive, before they are all unpacked")
  func packedZeros() throws {
    var tar = TarWriter()
    tar.add("zeros.bin", [UInt8](repeating: 0, count: 4 << 20))
    tar.add("App.sqlite", store)
    let path = try written(tar.packed)
    var limits = ContainerLimits()
    #expect(try Container(path, limits: limits).stores().count == 1)
    limits.largeBytes = 1 << 20
    expectRefusal(path, naming: "“zeros.bin”", limits: limits)
  }

  @Test("a member that holds more than it says, and one that is not what its checksum says")
  func lies() throws {
    var zip = ZipWriter()
    try zip.add("App.sqlite", store, lie: .init(bytes: 4096))
    expectRefusal(try written(zip.bytes), naming: "“App.sqlite” in the archive is larger")
    zip = ZipWriter()
    try zip.add("App.sqlite", store, lie: .init(checksum: 1))
    expectRefusal(try written(zip.bytes), naming: "“App.sqlite” cannot be read")
  }

  @Test("more files, a larger file, or more bytes than the limits")
  func limits() throws {
    var zip = ZipWriter()
    for name in ["A.sqlite", "B.sqlite", "C.sqlite"] { try zip.add(name, store) }
    let path = try written(zip.bytes)
    var limits = ContainerLimits()
    limits.entries = 2
    expectRefusal(path, naming: "more than 2 files", limits: limits)
    limits = ContainerLimits()
    limits.fileBytes = 4096
    expectRefusal(path, naming: "“A.sqlite”", limits: limits)
    limits = ContainerLimits()
    limits.totalBytes = store.count * 2
    expectRefusal(path, naming: "“C.sqlite”", limits: limits)
  }

  @Test("a ZIP with a password, and one that is cut off")
  func unreadable() throws {
    var zip = ZipWriter()
    try zip.add("App.sqlite", store, lie: .init(flags: 1))
    let path = try written(zip.bytes)
    #expect(Captured("dump", path + "//App.sqlite").err.contains("encrypted"))
    zip = ZipWriter()
    try zip.add("App.sqlite", store)
    expectRefusal(try written(Array(zip.bytes.dropLast(100))), naming: "cut off")
    // One packed file, and no store.
    let text = try written(TarWriter.gzip(Array("text, no tar".utf8) + store), as: "text.gz")
    #expect(Captured("stores", text).status == .no)
    #expect(Captured("dump", text).status == .unreadable)
  }

  @Test("a cut-off tar archive gives what came before, and says that it is cut off")
  func cutOff() throws {
    var tar = TarWriter()
    tar.add("First.sqlite", store)
    tar.add("Second.sqlite", store)
    let whole = tar.bytes
    let cut = Array(whole.prefix(512 + (store.count + 511) / 512 * 512 + 512 + 2000))
    let path = try written(cut)
    let listed = Captured("stores", path)
    #expect(listed.status == .done)
    #expect(listed.out.contains("1 store in"))
    #expect(listed.err.contains("cut off in or after “Second.sqlite”"))
    #expect(Captured("dump", path).status == .done)
    // Packed, the last bytes are missing.
    let packed = try TarWriter.gzip(whole)
    let other = try written(Array(packed.prefix(packed.count * 3 / 4)))
    #expect(Captured("stores", other).err.contains("cut off"))
  }

  @Test("an encrypted backup is named, whichever way it shows, and one of iOS 9")
  func encrypted() throws {
    do {
      let backup = try BackupWriter(folder.path("listed"), isEncrypted: true)
      try backup.add("AppDomain-x", "App.sqlite", store)
    }
    expectRefusal(folder.path("listed"), naming: "iOS backup is encrypted")
    _ = try BackupWriter(folder.path("unlisted"))
    try FileSystem.write(
      (0..<4096).map { UInt8($0 * 7 & 0xFF) }, to: folder.path("unlisted/Manifest.db"))
    expectRefusal(folder.path("unlisted"), naming: "iOS backup is encrypted")
    try FileSystem.makeDirectory(folder.path("old"))
    for name in ["Manifest.mbdb", "Manifest.plist"] {
      try FileSystem.write([1], to: folder.path("old/" + name))
    }
    expectRefusal(folder.path("old"), naming: "iOS 9")
  }

  @Test("a backup whose list leads out of it, or whose files are links")
  func hostileBackup() throws {
    do {
      let backup = try BackupWriter(folder.path("up"))
      try backup.add("AppDomain-x", "../../../App.sqlite", store)
    }
    expectRefusal(folder.path("up"), naming: "leaves the archive")
    do {
      let backup = try BackupWriter(folder.path("linked"))
      let place = try backup.add("AppDomain-x", "App.sqlite", store)
      FileSystem.remove(place)
      #expect(symbolicLink(place, to: "/etc/passwd"))
    }
    expectRefusal(folder.path("linked"), naming: "is a link")
    do {
      let backup = try BackupWriter(folder.path("named"))
      try backup.add("AppDomain-x", "App.sqlite", store)
      try backup.add("AppDomain-x", "Other.sqlite", store, name: "../../demo/Recipes.sqlite")
    }
    #expect(Captured("stores", folder.path("named"), "--json").out.contains("App.sqlite"))
    #expect(!Captured("stores", folder.path("named")).out.contains("Other"))
  }
}
