import Files
import ManagedModel
import ManagedStore
import TestSupport
import Testing

@testable import Commands
@testable import Containers
@testable import strata

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A backup of the sample store, encrypted, and what opens it.
private final class Patient {
  static let domain = "AppDomain-com.example.recipes"
  static let note = "a private note of another app"
  let samples: SampleContainers
  let path: String
  let writer: EncryptedBackupWriter
  let passwordFile: String
  var inner: String { Self.domain + "/Documents/Recipes.sqlite" }

  init(
    _ change: (inout EncryptedBackupWriter.Options) -> Void = { _ in },
    file: (String, inout EncryptedBackupWriter.FileOptions) -> Void = { _, _ in },
    more: (EncryptedBackupWriter) throws -> Void = { _ in }
  ) throws {
    samples = try SampleContainers()
    path = samples.folder.path("Backup")
    writer = try EncryptedBackupWriter(path, change)
    for content in samples.files {
      try writer.add(Self.domain, "Documents/" + content.name, content.bytes) {
        file(content.name, &$0)
      }
    }
    try writer.add("HomeDomain", "Library/notes.txt", Array(Self.note.utf8))
    try more(writer)
    try writer.finish()
    passwordFile = samples.folder.path("password")
    try FileSystem.write(Array("correct horse\n".utf8), to: passwordFile)
  }

  /// A command with the password.
  func run(_ words: String...) -> Captured { Captured(words + ["--password-file", passwordFile]) }

  static func password(_ text: String = "correct horse") -> BackupUnlocking {
    BackupUnlocking(ring: BackupKeyRing()) { _, attempt in
      attempt == 0 ? Secret(Array(text.utf8)) : nil
    }
  }
}

@Suite("Encrypted iOS backups")
struct EncryptedBackupTests {
  @Test("store, -wal and external files come out byte for byte, and what it is in stays as it was")
  func equal() throws {
    let patient = try Patient()
    let before = try Tree(patient.path)
    let container = try Container(patient.path, unlocking: Patient.password())
    let stores = try container.stores()
    #expect(stores.map(\.name) == [patient.inner])
    #expect(stores.first?.problem == nil)
    #expect(stores.first?.app == "com.example.recipes")
    let copy = try StoreCopy(of: patient.inner, in: container)
    for file in patient.samples.files {
      let place = copy.root + "/" + Patient.domain + "/Documents/" + file.name
      #expect(try FileSystem.read(place) == file.bytes, "\(file.name)")
    }
    let plain = Captured("dump", patient.samples.store, "--blobs")
    #expect(plain.out.contains(SampleContainers.title))
    for name in [patient.path, patient.path + "//" + patient.inner] {
      let dump = patient.run("dump", name, "--blobs")
      #expect(dump.status == .done, "\(dump.err)")
      #expect(dump.out == plain.out)
    }
    let listed = patient.run("stores", patient.path)
    #expect(listed.status == .done, "\(listed.err)")
    #expect(listed.out.contains(patient.inner))
    #expect(try Tree(patient.path) == before)
  }

  @Test("in an archive it is opened as in a folder", arguments: [true, false])
  func archived(isZip: Bool) throws {
    let patient = try Patient()
    let path = patient.samples.folder.path(isZip ? "Backup.zip" : "Backup.tar.gz")
    let files = try Tree(patient.path).files
    if isZip {
      var zip = ZipWriter()
      for file in files { try zip.add("0000-1111/" + file.name, file.bytes, isPacked: true) }
      try FileSystem.write(zip.bytes, to: path)
    } else {
      var tar = TarWriter()
      for file in files { tar.add("0000-1111/" + file.name, file.bytes) }
      try FileSystem.write(tar.packed, to: path)
    }
    let plain = Captured("dump", patient.samples.store, "--blobs")
    let dump = patient.run("dump", path, "--blobs")
    #expect(dump.status == .done, "\(dump.err)")
    #expect(dump.out == plain.out)
    #expect(Captured("dump", path).err.contains("only its password opens it"))
  }

  @Test("one whose list of files is not encrypted is opened too")
  func plainManifest() throws {
    let patient = try Patient { $0.encryptsManifest = false }
    let dump = patient.run("dump", patient.path, "--blobs")
    #expect(dump.status == .done, "\(dump.err)")
    #expect(dump.out == Captured("dump", patient.samples.store, "--blobs").out)
    #expect(FileSystem.isFile(patient.path + "/Manifest.db"))
  }

  @Test("no password and a wrong one are reported, each with what to try")
  func passwords() throws {
    let patient = try Patient()
    for words in [["info", patient.path], ["stores", patient.path], ["dump", patient.path]] {
      let refused = Captured(words)
      #expect(refused.status == .unreadable)
      #expect(refused.err.contains("only its password opens it"), "\(refused.err)")
      #expect(refused.err.contains("--password-file FILE"), "\(refused.err)")
      #expect(refused.out == "")
    }
    try FileSystem.write(Array("correct horses".utf8), to: patient.passwordFile)
    let wrong = patient.run("info", patient.path)
    #expect(wrong.status == .unreadable)
    #expect(wrong.err.contains("is wrong"), "\(wrong.err)")
    // Neither is in what is printed.
    #expect(!wrong.err.contains("horse"))
  }

  @Test(
    "one line end behind the password in a file does not belong to it",
    arguments: [("", true), ("\n", true), ("\r\n", true), ("\n\n", false), (" ", false)])
  func lineEnd(_ end: String, isRight: Bool) throws {
    let patient = try Patient()
    try FileSystem.write(Array(("correct horse" + end).utf8), to: patient.passwordFile)
    #expect(
      patient.run("stores", patient.path).status == (isRight ? .done : .unreadable))
  }

  @Test("a file without a password, of too many bytes, or that is not there is wrong usage")
  func passwordFiles() throws {
    let patient = try Patient()
    for bytes in [[], Array("\n".utf8), [UInt8](repeating: 97, count: 1025)] {
      try FileSystem.write(bytes, to: patient.passwordFile)
      #expect(patient.run("stores", patient.path).status == .usage, "\(bytes.count)")
    }
    FileSystem.remove(patient.passwordFile)
    #expect(patient.run("stores", patient.path).status == .unreadable)
  }

  @Test("a password is asked for once in a run, and again with other keys")
  func ring() throws {
    let patient = try Patient()
    let ring = BackupKeyRing()
    var asked: [BackupIdentity] = []
    let unlocking = BackupUnlocking(ring: ring) { backup, attempt in
      asked.append(backup)
      return attempt == 0 ? Secret(Array("correct horse".utf8)) : nil
    }
    for _ in 0..<3 { _ = try Container(patient.path, unlocking: unlocking) }
    #expect(asked.map(\.text) == ["“Anna’s iPhone”, iOS 18.1, 2025-11-16"])
    _ = try Container(patient.path, unlocking: BackupUnlocking(ring: ring) { _, _ in nil })
    #expect(throws: CoreDataError.self) { try Container(patient.path) }
  }

  @Test("the right password after a wrong one opens it")
  func secondAttempt() throws {
    let patient = try Patient()
    let words = ["wrong", "correct horse"]
    var attempts: [Int] = []
    let container = try Container(
      patient.path,
      unlocking: BackupUnlocking(ring: BackupKeyRing()) { _, attempt in
        attempts.append(attempt)
        return words.indices.contains(attempt) ? Secret(Array(words[attempt].utf8)) : nil
      })
    #expect(attempts == [0, 1])
    #expect(try container.stores().count == 1)
  }

  @Test("of a folder of backups none is asked for, and it is said which are encrypted")
  func folderOfBackups() throws {
    let patient = try Patient()
    let listed = Captured("stores", patient.samples.folder.path)
    #expect(listed.err.contains("encrypted"), "\(listed.err)")
    #expect(!listed.out.contains(Patient.domain))
    let opened = patient.run("stores", patient.samples.folder.path)
    #expect(opened.out.contains("Backup/" + patient.inner), "\(opened.out) \(opened.err)")
  }

  @Test("a private copy has the chosen store and nothing else, and no key is in a file")
  func nothingElse() throws {
    let patient = try Patient()
    let container = try Container(patient.path, unlocking: Patient.password())
    let copy = try StoreCopy(of: patient.inner, in: container)
    let place = try #require(FileSystem.parent(of: copy.root))
    let files = try Tree(place).files
    #expect(files.count == patient.samples.files.count)
    for file in files {
      #expect(file.bytes.firstRange(of: Array(Patient.note.utf8)) == nil)
      for secret in patient.writer.secrets {
        #expect(file.bytes.firstRange(of: secret) == nil, "\(file.name)")
      }
      var info = stat()
      #expect(lstat(place + "/" + file.name, &info) == 0)
      #expect(info.st_mode & 0o777 == 0o600, "\(file.name)")
    }
  }

  @Test("a file whose key only the device can unwrap is named, and others are read")
  func deviceOnly() throws {
    let other = "AppDomain-com.example.other"
    for number in [EncryptedBackupWriter.deviceClass, EncryptedBackupWriter.bothClass] {
      let patient = try Patient(more: { writer in
        try writer.add(other, "Documents/Sealed.sqlite", [UInt8](repeating: 7, count: 8192)) {
          $0.protectionClass = number
        }
      })
      let listed = patient.run("stores", patient.path)
      #expect(listed.status == .done, "\(listed.err)")
      #expect(listed.out.contains("Sealed.sqlite: cannot be decrypted"), "\(listed.out)")
      #expect(listed.out.contains("only the device"), "\(listed.out)")
      let sealed = patient.run("info", patient.path + "//Sealed.sqlite")
      #expect(sealed.status == .unreadable)
      #expect(sealed.err.contains("only the device itself can unwrap (protection class \(number))"))
      #expect(patient.run("info", patient.path + "//Recipes.sqlite").status == .done)
    }
  }

  @Test("a key of a class that the keybag does not have is reported by file")
  func noClass() throws {
    let patient = try Patient(file: { name, file in
      if name == "Recipes.sqlite" { file.protectionClass = 99 }
    })
    let info = patient.run("info", patient.path + "//" + patient.inner)
    #expect(info.status == .unreadable)
    #expect(info.err.contains("class 99"), "\(info.err)")
  }

  @Test("the padding says how long a file is; the list's size counts if none exists")
  func sizes() throws {
    // Of a file that was in use during the backup the list has another size.
    for size in [1, 1 << 40] {
      let patient = try Patient(file: { _, file in file.size = size })
      let dump = patient.run("dump", patient.path, "--blobs")
      #expect(dump.status == .done, "\(dump.err)")
      #expect(dump.out == Captured("dump", patient.samples.store, "--blobs").out)
    }
    let unpadded = try Patient(file: { name, file in
      if name == "Recipes.sqlite" { file.isPadded = false }
    })
    #expect(unpadded.run("info", unpadded.path).status == .done)
    #expect(FileEnd.kept(of: [UInt8](repeating: 16, count: 16), total: 32, stated: 32) == 16)
    #expect(FileEnd.kept(of: [UInt8](repeating: 16, count: 16), total: 32, stated: 16) == 0)
    #expect(FileEnd.kept(of: [UInt8](repeating: 9, count: 16), total: 32, stated: nil) == 7)
    #expect(FileEnd.kept(of: [UInt8](repeating: 99, count: 16), total: 32, stated: 20) == 4)
    #expect(FileEnd.kept(of: [UInt8](repeating: 99, count: 16), total: 32, stated: 3) == 0)
    #expect(FileEnd.kept(of: [UInt8](repeating: 99, count: 16), total: 32, stated: 33) == nil)
    #expect(FileEnd.kept(of: [], total: 0, stated: 5) == nil)
    #expect(FileEnd.kept(of: [], total: 0, stated: 0) == 0)
  }

  @Test("a file that is cut off, and one that is shorter than its size, are refused by name")
  func cutOff() throws {
    for cut in [1, 17] {
      let patient = try Patient()
      let name = ByteText.hex(Digest.sha1(Array("\(Patient.domain)-Documents/Recipes.sqlite".utf8)))
      let place = patient.path + "/" + name.prefix(2) + "/" + name
      let bytes = try FileSystem.read(place)
      try FileSystem.write(Array(bytes.dropLast(cut)), to: place)
      let listed = patient.run("stores", patient.path)
      #expect(listed.out.contains("Recipes.sqlite: damaged"), "\(cut) \(listed.out)")
      let info = patient.run("info", patient.path + "//" + patient.inner)
      #expect(info.status == .unreadable, "\(cut)")
      #expect(info.err.contains("shorter than the backup's list says"), "\(cut) \(info.err)")
    }
  }

  @Test("a missing keybag, a damaged one, and one that would take minutes are refused at once")
  func keybags() throws {
    let none = try Patient { $0.hasKeybag = false }
    #expect(none.run("info", none.path).err.contains("BackupKeyBag in Manifest.plist"))
    let cut = try Patient { $0.keybag = { Array($0.dropLast(3)) } }
    let damaged = cut.run("info", cut.path)
    #expect(damaged.status == .unreadable)
    #expect(damaged.err.contains("keybag in Manifest.plist is damaged"), "\(damaged.err)")
    let slow = try Patient { $0.rounds = 50_000_001 }
    let refused = slow.run("info", slow.path)
    #expect(refused.status == .unreadable)
    #expect(refused.err.contains("50,000,001 rounds"), "\(refused.err)")
  }

  @Test("a damaged Manifest.db is reported as that, and not as a wrong password")
  func damagedManifest() throws {
    let changes: [([UInt8]) -> [UInt8]] = [
      { Array($0.dropLast(5)) }, { $0.map { ~$0 } }, { _ in [UInt8](repeating: 3, count: 64) },
    ]
    for change in changes {
      let patient = try Patient { $0.manifest = change }
      let info = patient.run("info", patient.path)
      #expect(info.status == .unreadable)
      #expect(info.err.contains("Manifest.db"), "\(info.err)")
      #expect(info.err.contains("The password is right"), "\(info.err)")
    }
    // The first block is whole, and the rest is not.
    let patient = try Patient {
      $0.manifest = { bytes in Array(bytes.prefix(16)) + bytes.dropFirst(16).map { ~$0 } }
    }
    let info = patient.run("info", patient.path)
    #expect(info.status == .unreadable)
    #expect(info.err.contains("Manifest.db"), "\(info.err)")
  }

  @Test("a damaged record of a file costs that file, and is counted")
  func damagedRecord() throws {
    let changes: [([UInt8]) -> [UInt8]] = [
      { _ in [] }, { Array($0.dropLast(40)) }, { _ in [1, 2, 3] },
    ]
    let patient = try Patient(more: { writer in
      for (index, change) in changes.enumerated() {
        try writer.add("HomeDomain", "Library/\(index).txt", [1, 2, 3]) { $0.record = change }
      }
    })
    let listed = patient.run("stores", patient.path)
    #expect(listed.status == .done)
    #expect(listed.err.contains("3 files of the encrypted backup"), "\(listed.err)")
  }

  @Test("a path in the list leads nowhere, and a name that is no digest is no file")
  func hostilePaths() throws {
    let up = try Patient(more: { try $0.add("HomeDomain", "../../../x.sqlite", [1]) })
    #expect(up.run("stores", up.path).err.contains("leaves the archive"))
    let names = [
      "../../../../etc/passwd", "0123456789abcdef", String(repeating: "g", count: 40),
      String(repeating: "../", count: 13) + "a", String(repeating: "é", count: 20),
    ]
    let patient = try Patient(more: { writer in
      for name in names {
        try writer.add("HomeDomain", "Library/\(name.utf8.count)-\(name.count).sqlite", [1]) {
          $0.name = name
        }
      }
    })
    let container = try Container(patient.path, unlocking: Patient.password())
    #expect(try container.stores().map(\.name) == [patient.inner])
    #expect(
      container.entries(below: "HomeDomain/Library/").map(\.name) == [
        "HomeDomain/Library/notes.txt"
      ])
  }

  @Test("a hostile name of a device does not reach the terminal")
  func hostileDevice() throws {
    let name = "\u{1B}]0;x\u{7}\u{1B}[2J\n\u{202E}" + String(repeating: "x", count: 5000)
    var shown = ""
    let patient = try Patient { $0.device = name }
    #expect(throws: CoreDataError.self) {
      try Container(
        patient.path,
        unlocking: BackupUnlocking(ring: BackupKeyRing()) { backup, _ in
          shown = backup.text
          return nil
        })
    }
    #expect(shown.contains("x") && shown.count < 300)
    #expect(!shown.unicodeScalars.contains { $0.value < 32 || $0.value == 0x202E })
  }

  @Test("a derivation reports how far it is, and is left at once")
  func progress() throws {
    let patient = try Patient { $0.rounds = 400_000 }
    var seen: [Double] = []
    _ = try Container(
      patient.path,
      unlocking: BackupUnlocking(ring: BackupKeyRing(), progress: { seen.append($0) }) { _, _ in
        Secret(Array("correct horse".utf8))
      })
    #expect(seen.last == 1)
    #expect(seen == seen.sorted() && seen.allSatisfy { (0...1).contains($0) })
    struct Stopped: Error {}
    #expect(throws: Stopped.self) {
      try Container(
        patient.path,
        unlocking: BackupUnlocking(ring: BackupKeyRing(), progress: { _ in throw Stopped() }) {
          _, _ in Secret(Array("correct horse".utf8))
        })
    }
  }

  @Test(
    "one of ten million rounds, as Apple makes them, is opened",
    .enabled(if: TestScale.isFull, "\(TestScale.condition)"))
  func allRounds() throws {
    let patient = try Patient {
      $0.rounds = 10_000_000
      $0.innerRounds = 10_000
    }
    let dump = patient.run("dump", patient.path, "--blobs")
    #expect(dump.status == .done, "\(dump.err)")
    #expect(dump.out == Captured("dump", patient.samples.store, "--blobs").out)
  }

  private struct Read: Decodable {
    var name: String
    var sha256: String
  }

  @Test(
    "iphone-backup-decrypt reads the same bytes out of the backup",
    .enabled(if: Tool.python3.isAvailable, "python3 is not installed"))
  func otherReader() throws {
    let patient = try Patient()
    let script =
      #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
      .joined(separator: "/") + "/Independent/backup.py"
    var words = ["-B", script, patient.path, patient.passwordFile]
    // It is fetched only where everything is tried.
    if TestScale.isFull { words.append(patient.samples.folder.path("venv")) }
    var out: [UInt8] = []
    let result = try #require(
      try Subprocess.run(Tool.python3.path, words, environment: Subprocess.environment()) {
        out += $0
      })
    guard result.status != 77 else {
      print(result.message)
      return
    }
    #expect(result.status == 0, "\(result.message)")
    let read = try out.split(separator: UInt8(ascii: "\n")).map {
      try Captured.decoded(Read.self, from: Array($0))
    }
    let digests = Dictionary(read.map { ($0.name, $0.sha256) }) { $1 }
    for file in patient.samples.files {
      #expect(
        digests[Patient.domain + "/Documents/" + file.name]
          == ByteText.hex(Digest.sha256(file.bytes)), "\(file.name)")
    }
    #expect(digests.count == patient.samples.files.count + 1)
  }

  @Test("every command that takes a store takes --password-file")
  func options() {
    for command in CommandTable.commands + [InterfaceCommand.command] {
      let takesStore = (command.arguments + command.shownOptions).contains { $0.kind == .store }
      guard takesStore || command.name == "stores" else { continue }
      #expect(command.shownOptions.contains { $0.name == "password-file" }, "\(command.name)")
      #expect(command.help.contains("--password-file FILE"), "\(command.name)")
    }
  }

  @Test("mutated keybags, records and lists of files end in an answer")
  func fuzz() throws {
    let folder = try TemporaryFolder()
    let count = TestScale.count(600, ofAll: 20_000, variable: "STRATA_BACKUP_INPUTS")
    let targets = try BackupFuzzing.targets(in: folder)
    #expect(targets.count == 8)
    for target in targets {
      let result = Fuzzing.run(
        target, count: count / targets.count, seed: UInt64.random(in: 1...1_000_000))
      #expect(result.inputs == count / targets.count)
      #expect(result.slowest < 2, "\(target.name): \(result.slowestInput)")
      // The backup is sound again, and so is the part as it was made.
      try target.read(#require(target.corpus.first))
    }
  }
}
