import Files
import ManagedModel
import ManagedStore
import TestSupport
import Testing

@testable import Commands
@testable import Containers
@testable import strata

/// What people send, by accident or on purpose: each kind is made here.
@Suite("Containers as people send them")
struct SentContainerTests {
  private struct Listing: Decodable {
    struct Store: Decodable {
      var name: String
      var walBytes: Int?
    }
    var kind: String
    var stores: [Store]
    var notes: [String]
  }

  private let samples: SampleContainers
  private var folder: TemporaryFolder { samples.folder }
  private var store: [UInt8] { samples.files[0].bytes }

  init() throws { samples = try SampleContainers() }

  private func written(_ bytes: [UInt8], as name: String = "file") throws -> String {
    try FileSystem.write(bytes, to: folder.path(name))
    return folder.path(name)
  }

  private func listing(_ path: String) throws -> Listing {
    let result = Captured("stores", path, "--json")
    #expect(result.status == .done, "\(result.err)")
    return try result.decoded(Listing.self)
  }

  /// The plain store's rows.
  private var dump: String { Captured("dump", samples.store, "--blobs").out }

  @Test("leading slashes are dropped", arguments: ["/", "///", "/./"])
  func absolute(_ start: String) throws {
    var zip = ZipWriter()
    var tar = TarWriter()
    for file in samples.files {
      try zip.add(start + "private/var/" + file.name, file.bytes)
      tar.add(start + "private/var/" + file.name, file.bytes)
    }
    for bytes in [zip.bytes, tar.bytes] {
      let path = try written(bytes)
      #expect(try listing(path).stores.map(\.name) == ["private/var/Recipes.sqlite"])
      #expect(Captured("dump", path, "--blobs").out == dump)
    }
    #expect(FileSystem.status("/private/var/Recipes.sqlite") == nil)
  }

  @Test(
    "two members that become one name are refused",
    arguments: [
      ("App.sqlite", "App.sqlite"), ("/App.sqlite", "App.sqlite"), ("a/./b.txt", "a//b.txt"),
      ("caf\u{E9}/App.sqlite", "cafe\u{301}/App.sqlite"),
    ])
  func joined(_ one: String, _ other: String) throws {
    var zip = ZipWriter()
    var tar = TarWriter()
    for name in ["Other.sqlite", one, other] {
      try zip.add(name, store)
      tar.add(name, store)
    }
    // The same name twice in a tar archive is what adding to it makes.
    let isSame = one.utf8.elementsEqual(other.utf8)
    for bytes in [zip.bytes] + (isSame ? [] : [tar.bytes, try tar.packed]) {
      let result = Captured("stores", try written(bytes))
      #expect(result.status == .unreadable, "\(result.out)")
      #expect(result.err.contains(isSame ? "is there twice" : "become one name"), "\(result.err)")
    }
  }

  @Test("two files that the temporary folder takes for one are refused, and neither is replaced")
  func joinedByFolder() throws {
    var zip = ZipWriter()
    try zip.add("App.sqlite", store)
    try zip.add("APP.sqlite", [1, 2, 3])
    var tar = TarWriter()
    tar.add("App.sqlite", store)
    tar.add("APP.sqlite", [1, 2, 3])
    for bytes in [zip.bytes, tar.bytes] {
      let container = try Container(try written(bytes))
      let place = folder.path("one")
      // As a file system does that tells no cases apart.
      let error = #expect(throws: CoreDataError.self) {
        try container.unpack(
          ["App.sqlite", "APP.sqlite"].map { (try #require(container.entry($0)), place) })
      }
      #expect(error?.message.contains("become one name") == true)
      #expect(try FileSystem.read(place) == store)
      FileSystem.remove(place)
    }
  }

  @Test("a store packed as .gz, whose name inside is ignored")
  func packedFile() throws {
    let packed = try TarWriter.gzip(store)
    let named =
      [0x1F, 0x8B, 8, 8, 0, 0, 0, 0, 0, 3] + Array("../../evil.sqlite\0".utf8)
      + packed.dropFirst(10)
    let plain = try written(store, as: "main.sqlite")
    for (name, bytes) in [("Recipes.sqlite.gz", packed), ("Re\u{1B}[31m.gz", named)] {
      let path = try written(bytes, as: name)
      let listed = try listing(path)
      #expect(listed.kind == "gz")
      #expect(listed.stores.map(\.name) == [String(name.dropLast(3))])
      #expect(Captured("dump", path).out == Captured("dump", plain).out)
      let text = Captured("stores", path)
      #expect(!(text.out + text.err).utf8.contains(0x1B))
    }
    let changed = Captured("reset", folder.path("Recipes.sqlite.gz"), "--model", samples.model)
    #expect(changed.status == .refused)
    #expect(FileSystem.status(folder.path("evil.sqlite")) == nil)
  }

  @Test("a .gz that is cut off, damaged, or made to fill the disk")
  func wrongPackedFile() throws {
    let packed = try TarWriter.gzip(store)
    let cut = try written(Array(packed.dropLast(packed.count / 2)), as: "cut.sqlite.gz")
    #expect(Captured("dump", cut).err.contains("is cut off"))
    var bytes = packed
    bytes[bytes.count - 6] ^= 0xFF
    let damaged = try written(bytes, as: "damaged.sqlite.gz")
    #expect(Captured("dump", damaged).err.contains("is damaged"))
    for path in [cut, damaged] {
      #expect(Captured("stores", path).status == .unreadable)
    }
    let zeros = try written(
      try TarWriter.gzip([UInt8](repeating: 0, count: 4 << 20)), as: "zeros.sqlite.gz")
    var limits = ContainerLimits()
    limits.largeBytes = 1 << 20
    let error = #expect(throws: CoreDataError.self) { try Container(zeros, limits: limits) }
    #expect(error?.message.contains("“zeros.sqlite”") == true)
    limits = ContainerLimits()
    limits.fileBytes = 1 << 20
    #expect(throws: CoreDataError.self) { try Container(zeros, limits: limits) }
    limits = ContainerLimits()
    (limits.smallBytes, limits.mostRatio) = (1 << 20, 900)
    #expect(throws: CoreDataError.self) { try Container(zeros, limits: limits) }
  }

  @Test("nothing is unpacked beyond the ratios, which grow stricter with the size")
  func ratios() {
    let limits = ContainerLimits()
    #expect(limits.isBomb(bytes: 65 << 20, packed: 65 << 10))
    #expect(!limits.isBomb(bytes: 63 << 20, packed: 63 << 10))
    #expect(!limits.isBomb(bytes: 65 << 20, packed: 1 << 20))
    #expect(limits.isBomb(bytes: 2 << 30, packed: 20 << 20))
    #expect(!limits.isBomb(bytes: 2 << 30, packed: 200 << 20))
  }

  @Test("a ZIP that is cut off gives the files before the cut, however its sizes are written")
  func cutZip() throws {
    let forms: [ZipWriter.Sizes] = [
      .plain, .wide, .descriptor(isMarked: true), .descriptor(isMarked: false),
    ]
    for form in forms {
      var zip = ZipWriter()
      try zip.add("folder/", [], mode: 0o040755, isPacked: false, sizes: form)
      for file in samples.files { try zip.add("folder/" + file.name, file.bytes, sizes: form) }
      let whole = zip.members.count
      try zip.add("Second.sqlite", store, sizes: form)
      let plain = try written(zip.bytes)
      #expect(try listing(plain).stores.count == 2)
      #expect(Captured("dump", plain + "//folder/Recipes.sqlite", "--blobs").out == dump)

      let path = try written(Array(zip.bytes.prefix(whole + 2000)))
      let listed = try listing(path)
      #expect(listed.stores.map(\.name) == ["folder/Recipes.sqlite"])
      #expect(listed.notes.count == 1)
      #expect(listed.notes.first?.contains("in or after “Second.sqlite”") == true)
      let cut = Captured("dump", path, "--blobs")
      #expect(cut.out == dump)
      #expect(cut.err.contains("only what precedes it is listed"))

      // Cut within the directory: nothing of the files is missing.
      let other = try listing(try written(Array(zip.bytes.prefix(zip.members.count + 10))))
      #expect(other.stores.map(\.name) == ["Second.sqlite", "folder/Recipes.sqlite"])
      #expect(other.notes.count == 1)
    }
  }

  @Test("a ZIP in an archive is opened; one in that is named")
  func nested() throws {
    var inner = ZipWriter()
    for file in samples.files { try inner.add("App.xcappdata/" + file.name, file.bytes) }
    var outer = ZipWriter()
    try outer.add("mail/notes.txt", [1, 2, 3])
    try outer.add("mail/App.zip", inner.bytes, isPacked: false)
    var tar = TarWriter()
    tar.add("mail/App.zip", inner.bytes)
    let name = "mail/App.zip/App.xcappdata/Recipes.sqlite"
    for bytes in [outer.bytes, tar.bytes, try tar.packed] {
      let path = try written(bytes)
      #expect(try listing(path).stores.map(\.name) == [name])
      for word in [path, path + "//" + name, path + "//App.xcappdata/Recipes.sqlite"] {
        let result = Captured("dump", word, "--blobs")
        #expect(result.out == dump, "\(result.err)")
        #expect(!result.err.contains("strata-copy"))
      }
    }
    var third = ZipWriter()
    try third.add("Third.zip", outer.bytes)
    let deep = Captured("stores", try written(third.bytes))
    #expect(deep.status == .no)
    #expect(deep.err.contains("“Third.zip/mail/App.zip” is an archive inside this one"))
    // A backup in one.
    let (backup, place) = try samples.make(.zippedBackup)
    var sent = ZipWriter()
    try sent.add("Backup.zip", FileSystem.read(backup))
    let path = try written(sent.bytes)
    #expect(try listing(path).stores.map(\.name) == ["Backup.zip/" + place])
    #expect(Captured("dump", path, "--blobs").out == dump)
  }

  @Test("an archive in one that is a trap is refused in a sentence, and others are still read")
  func nestedTraps() throws {
    var bomb = ZipWriter()
    try bomb.add("Bomb.sqlite", [0], lie: .init(bytes: 8 << 30, packed: 8 << 20))
    var up = ZipWriter()
    try up.add("../Up.sqlite", store)
    var locked = ZipWriter()
    try locked.add("Locked.sqlite", store, lie: .init(flags: 1))
    var good = ZipWriter()
    try good.add("Good.sqlite", store)
    let before = try FileSystem.list(folder.path)
    for (trap, text) in [(bomb, "“Bomb.sqlite”"), (up, "“../Up.sqlite”"), (locked, "encrypted")] {
      var outer = ZipWriter()
      try outer.add("inner.zip", trap.bytes)
      let alone = Captured("stores", try written(outer.bytes))
      #expect(alone.status == .unreadable)
      #expect(alone.err.contains("“inner.zip”") && alone.err.contains(text), "\(alone.err)")
      #expect(alone.err.contains(folder.path("file")) && !alone.err.contains("strata-copy"))
    }
    for (trap, text) in [(bomb, "“Bomb.sqlite”"), (up, "“../Up.sqlite”")] {
      var outer = ZipWriter()
      try outer.add("inner.zip", trap.bytes)
      try outer.add("good.zip", good.bytes)
      let listed = try listing(try written(outer.bytes))
      #expect(listed.stores.map(\.name) == ["good.zip/Good.sqlite"])
      #expect(listed.notes.contains { $0.contains("“inner.zip” was not opened") })
      #expect(listed.notes.contains { $0.contains(text) })
    }
    #expect(try FileSystem.list(folder.path) == (before + ["file"]).sorted())
  }

  @Test("a backup without its Manifest.plist is read by the first bytes of its Manifest.db")
  func backupWithoutProperties() throws {
    let (path, inner) = try samples.make(.backup)
    FileSystem.remove(path + "/Manifest.plist")
    #expect(ContainerForm(at: path) == .backup)
    #expect(try listing(path).stores.map(\.name) == [inner])
    #expect(Captured("dump", path, "--blobs").out == dump)
    func zipped() throws -> String {
      var zip = ZipWriter()
      for entry in try Tree(path).files { try zip.add("0000/" + entry.name, entry.bytes) }
      return try written(zip.bytes, as: "Backup.zip")
    }
    #expect(try listing(zipped()).stores.map(\.name) == ["0000/" + inner])
    try FileSystem.write((0..<4096).map { UInt8($0 * 7 & 0xFF) }, to: path + "/Manifest.db")
    for path in [path, try zipped()] {
      let result = Captured("stores", path)
      #expect(result.status == .unreadable)
      #expect(result.err.contains("is encrypted"))
      #expect(result.err.contains("its keybag (BackupKeyBag in Manifest.plist) is missing"))
    }
    // A file of that name alone makes no backup.
    try FileSystem.makeDirectory(folder.path("other"))
    try FileSystem.write(store, to: folder.path("other/Manifest.db"))
    #expect(ContainerForm(at: folder.path("other")) == .folder)
    #expect(try listing(folder.path("other")).stores.map(\.name) == ["Manifest.db"])
  }

  @Test("an encrypted backup that was packed twice is opened with its password")
  func nestedEncrypted() throws {
    let writer = try EncryptedBackupWriter(folder.path("Sealed")) { _ in }
    for file in samples.files {
      try writer.add("AppDomain-x", "Documents/" + file.name, file.bytes)
    }
    try writer.finish()
    var inner = ZipWriter()
    for entry in try Tree(folder.path("Sealed")).files {
      try inner.add("0000/" + entry.name, entry.bytes)
    }
    var outer = ZipWriter()
    try outer.add("mail/Backup.zip", inner.bytes, isPacked: false)
    let path = try written(outer.bytes)
    let password = try written(Array("correct horse\n".utf8), as: "password")
    let result = Captured("dump", path, "--blobs", "--password-file", password)
    #expect(result.status == .done, "\(result.err)")
    #expect(result.out == dump)
    let locked = Captured("stores", path)
    #expect(locked.status == .unreadable)
    #expect(locked.err.contains("“mail/Backup.zip”"))
    #expect(locked.err.contains("only its password opens it"))
  }

  @Test("links in a backup that lies in a folder are not followed")
  func linkedBackup() throws {
    let (path, inner) = try samples.make(.backup)
    try FileSystem.makeDirectory(folder.path("sent"))
    let place = folder.path("sent/Backup")
    #expect(rename(path, place) == 0)
    #expect(try listing(folder.path("sent")).stores.map(\.name) == ["Backup/" + inner])
    let external = try #require(samples.files.last).name
    let name = ByteText.hex(
      Digest.sha1(Array("AppDomain-com.example.recipes-Documents/\(external)".utf8)))
    let file = "\(place)/\(name.prefix(2))/\(name)"
    FileSystem.remove(file)
    #expect(symbolicLink(file, to: samples.store))
    for words in [["stores", folder.path("sent")], ["dump", folder.path("sent"), "--blobs"]] {
      let result = Captured(words)
      #expect(result.status == .unreadable)
      #expect(result.err.contains("is a link"), "\(result.err)")
    }
  }

  @Test("files that a backup's list names and that are missing are counted")
  func missingFiles() throws {
    let (path, inner) = try samples.make(.backup)
    #expect(try listing(path).notes == [])
    let log = inner + "-wal"
    let name = ByteText.hex(
      Digest.sha1(
        Array("AppDomain-com.example.recipes-Documents/Recipes.sqlite-wal".utf8)))
    FileSystem.remove("\(path)/\(name.prefix(2))/\(name)")
    let listed = try listing(path)
    #expect(listed.stores.map(\.name) == [inner])
    #expect(listed.stores.first?.walBytes == nil)
    #expect(listed.notes.count == 1)
    #expect(listed.notes.first?.hasPrefix("1 file that") == true)
    #expect(listed.notes.first?.contains("“\(log)”") == true)
    #expect(Captured("info", path).err.contains("“\(log)”"))
  }

  @Test("a -wal in another folder is named with the command, and not applied unasked")
  func distantLog() throws {
    var zip = ZipWriter()
    let place = folder.path("parts")
    for file in samples.files {
      let name = (file.name.hasSuffix("-wal") ? "b/" : "a/") + file.name
      try zip.add(name, file.bytes)
      try FileSystem.makeDirectory(FileSystem.parent(of: place + "/" + name) ?? place)
      try FileSystem.write(file.bytes, to: place + "/" + name)
    }
    let archive = try written(zip.bytes, as: "parts.zip")
    for (path, slashes) in [(archive, "//"), (place, "/")] {
      let (store, log) = (
        path + slashes + "a/Recipes.sqlite", path + slashes + "b/Recipes.sqlite-wal"
      )
      let command = ["salvage", store, "--wal", log, "--output", "Recipes-with-wal.sqlite"]
      let notes = try listing(path).notes
      #expect(notes.count == 1)
      #expect(notes.first?.contains("b/Recipes.sqlite-wal” looks like the -wal of") == true)
      #expect(notes.first?.hasSuffix(ShellText.command(command)) == true, "\(notes)")
      let plain = Captured("dump", path)
      #expect(plain.status == .done)
      #expect(!plain.out.contains(SampleContainers.title))
      #expect(plain.err.contains(ShellText.command(command)), "\(plain.err)")
      let output = folder.path("with" + (slashes == "/" ? "folder" : "archive") + ".sqlite")
      let saved = Captured(command.dropLast() + [output])
      #expect(saved.status == .done, "\(saved.out) \(saved.err)")
      #expect(!saved.err.contains("It is not applied"))
      #expect(Captured("dump", output).out == Captured("dump", samples.store).out)
    }
    // Beside its own store, or of another name, it is nobody else's.
    var other = ZipWriter()
    try other.add("a/Recipes.sqlite", store)
    try other.add("b/Recipes.sqlite", store)
    try other.add("b/Recipes.sqlite-wal", samples.files[1].bytes)
    try other.add("c/Notes.sqlite-wal", samples.files[1].bytes)
    #expect(try listing(try written(other.bytes)).notes == [])
  }

  @Test("members that lie over one another, and headers that contradict the directory")
  func overlapping() throws {
    let before = try FileSystem.list(folder.path)
    for lie in [ZipWriter.Lie(offset: 0), .init(bytes: 8 << 30, packed: 1 << 30)] {
      var zip = ZipWriter()
      try zip.add("App.sqlite", store)
      try zip.add("Other.sqlite", store, lie: lie)
      let result = Captured("stores", try written(zip.bytes))
      #expect(result.status == .unreadable)
      #expect(result.err.contains("lies over another file"), "\(result.err)")
    }
    var zip = ZipWriter()
    try zip.add("App.sqlite", store, lie: .init(ownName: "Evil.sqlite"))
    let result = Captured("dump", try written(zip.bytes) + "//App.sqlite")
    #expect(result.status == .unreadable)
    #expect(result.err.contains("“App.sqlite” is not what is said before its bytes"))
    #expect(Captured("stores", folder.path("file")).status == .unreadable)
    #expect(try FileSystem.list(folder.path) == (before + ["file"]).sorted())
  }

  @Test("declared sizes of 8 GB are refused before anything is written")
  func declaredSizes() throws {
    let before = try FileSystem.list(folder.path)
    var zip = ZipWriter()
    try zip.add("App.sqlite", store, lie: .init(bytes: 8 << 30))
    var tar = TarWriter()
    tar.add("App.sqlite", store, size: (8 << 30) - 1)
    for bytes in [zip.bytes, tar.bytes, try tar.packed] {
      let result = Captured("stores", try written(bytes))
      #expect(result.status == .unreadable, "\(result.out)")
      #expect(result.err.contains("“App.sqlite”"))
    }
    #expect(try FileSystem.list(folder.path) == (before + ["file"]).sorted())
    #expect(FileSystem.sum(.max, 1) == .max)
    #expect(FileSystem.sum(1, 2) == 3)
  }

  @Test("devices and pipes are never made, and never waited for")
  func devices() throws {
    for type: Character in ["3", "4", "6"] {
      var tar = TarWriter()
      tar.add("App.sqlite", type: type)
      tar.add("Other.sqlite", store)
      let path = try written(tar.bytes)
      let listed = try listing(path)
      #expect(listed.stores.map(\.name) == ["Other.sqlite"])
      #expect(listed.notes.contains { $0.contains("“App.sqlite”") })
      #expect(Captured("dump", path + "//App.sqlite").status == .unreadable)
    }
    let place: String
    do {
      let backup = try BackupWriter(folder.path("piped"))
      place = try backup.add("AppDomain-x", "App.sqlite", store)
    }
    FileSystem.remove(place)
    #expect(mkfifo(place, 0o600) == 0)
    #expect(Captured("stores", folder.path("piped")).status == .no)
    #expect(Captured("dump", folder.path("piped") + "//App.sqlite").status == .unreadable)
    // One in the place of a companion.
    let data = folder.path("x.xcappdata")
    try FileSystem.makeDirectory(data)
    try FileSystem.write(store, to: data + "/App.sqlite")
    #expect(mkfifo(data + "/App.sqlite-wal", 0o600) == 0)
    let result = Captured("stores", data)
    #expect(result.status == .unreadable)
    #expect(result.err.contains("is neither a file nor a folder"))
  }

  @Test("encrypted members are said, also where none is known to be a store")
  func encryptedMembers() throws {
    var zip = ZipWriter()
    try zip.add("notes.dat", store, lie: .init(flags: 1))
    let path = try written(zip.bytes)
    let listed = Captured("stores", path)
    #expect(listed.status == .no)
    #expect(listed.err.contains("1 file in it is encrypted"))
    #expect(Captured("dump", path).err.contains("1 file in it is encrypted"))
    try zip.add("App.sqlite", store)
    #expect(try listing(try written(zip.bytes)).stores.map(\.name) == ["App.sqlite"])
  }

  @Test("names that a terminal would obey are shown as text in every message")
  func hostileNames() throws {
    let evil = "a\u{1B}]0;x\u{7}\u{9B}31m\r\n"
    var inner = ZipWriter()
    try inner.add(evil + "/../x", store)
    var distant = ZipWriter()
    try distant.add(evil + "1/App.sqlite", store)
    try distant.add(evil + "2/App.sqlite-wal", samples.files[1].bytes)
    var twice = ZipWriter()
    for _ in 0..<2 { try twice.add(evil + ".sqlite", store) }
    var cut = ZipWriter()
    try cut.add("App.sqlite", store)
    try cut.add(evil, store)
    var outer = ZipWriter()
    try outer.add(evil + ".zip", inner.bytes)
    do {
      let backup = try BackupWriter(folder.path("named"))
      try backup.add("AppDomain-x", "App.sqlite", store)
      FileSystem.remove(try backup.add("AppDomain-" + evil, evil + ".sqlite", store))
    }
    var paths = [folder.path("named")]
    for (index, bytes) in [
      distant.bytes, twice.bytes, Array(cut.members.dropLast(3)), outer.bytes,
    ].enumerated() {
      paths.append(try written(bytes, as: "\(index).zip"))
    }
    for path in paths {
      for words in [["stores", path], ["stores", path, "--json"], ["dump", path]] {
        let result = Captured(words)
        let text = result.out + result.err
        #expect(!text.unicodeScalars.contains { ["\u{1B}", "\u{7}", "\u{9B}", "\r"].contains($0) })
        #expect(!text.isEmpty, "\(words)")
      }
    }
  }
}
