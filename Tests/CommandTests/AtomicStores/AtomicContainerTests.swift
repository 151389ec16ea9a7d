import AtomicStores
import Files
import TestSupport
import Testing

@testable import Commands
@testable import Containers

/// A folder with an XML and a binary store, which have the names of no store, and their model.
private struct AtomicLuggage {
  let place: AtomicFolder
  let files: [(name: String, bytes: [UInt8])]
  static let names = ["Documents/Notes.xml", "Documents/Albums.backup"]

  init() throws {
    place = try AtomicFolder(objects: 40)
    var files = [
      (Self.names[0], try FileSystem.read(place.xml)),
      (Self.names[1], try FileSystem.read(place.binary)),
      ("Documents/other.xml", Array("<?xml version=\"1.0\"?><plist version=\"1.0\"/>".utf8)),
      (
        "Documents/Map.xcmappingmodel/xcmapping.xml",
        Array("<?xml version=\"1.0\"?><!DOCTYPE database SYSTEM \"x.dtd\"><database/>".utf8)
      ),
    ]
    for file in try Tree(place.model).files {
      files.append(
        ("Documents/Album.xcdatamodeld/Album.xcdatamodel/" + file.name, file.bytes))
    }
    self.files = files
  }

  enum Form: String, CaseIterable, Sendable {
    case folder, backup, encrypted
    case appData = "app.xcappdata"
    case zip = "a.zip"
    case nested = "n.zip"
    case tar = "a.tar"
    case packedTar = "a.tar.gz"
  }

  static let domain = "AppDomain-com.example.notes/"

  func make(_ form: Form) throws -> (path: String, prefix: String) {
    let path = place.folder.path("in/" + form.rawValue)
    try FileSystem.makeDirectory(place.folder.path("in"))
    func write(to folder: String) throws {
      for file in files {
        let path = folder + "/" + file.name
        try FileSystem.makeDirectory(FileSystem.parent(of: path) ?? folder)
        try FileSystem.write(file.bytes, to: path)
      }
    }
    func zipped() throws -> [UInt8] {
      var zip = ZipWriter()
      for file in files { try zip.add(file.name, file.bytes, isPacked: true) }
      return zip.bytes
    }
    switch form {
    case .folder: try write(to: path)
    case .appData:
      try write(to: path + "/AppData")
      try FileSystem.write([], to: path + "/AppDataInfo.plist")
      return (path, "AppData/")
    case .backup:
      let backup = try BackupWriter(path)
      for file in files { try backup.add(String(Self.domain.dropLast()), file.name, file.bytes) }
      return (path, Self.domain)
    case .encrypted:
      let backup = try EncryptedBackupWriter(path) { _ in }
      for file in files {
        try backup.add(String(Self.domain.dropLast()), file.name, file.bytes) { _ in }
      }
      try backup.finish()
      return (path, Self.domain)
    case .zip: try FileSystem.write(try zipped(), to: path)
    case .nested:
      var zip = ZipWriter()
      try zip.add("inner.zip", try zipped())
      try FileSystem.write(zip.bytes, to: path)
      return (path, "inner.zip/")
    case .tar, .packedTar:
      var tar = TarWriter()
      for file in files { tar.add(file.name, file.bytes) }
      try FileSystem.write(form == .tar ? tar.bytes : tar.packed, to: path)
    }
    return (path, "")
  }
}

@Suite("XML and binary stores in containers")
struct AtomicContainerTests {
  @Test(
    "they are listed by their first bytes, and read with the model beside them",
    arguments: AtomicLuggage.Form.allCases)
  fileprivate func contained(_ form: AtomicLuggage.Form) throws {
    let luggage = try AtomicLuggage()
    let (path, prefix) = try luggage.make(form)
    let before = try Tree(path)
    let password = luggage.place.folder.path("password")
    try FileSystem.write(Array("correct horse\n".utf8), to: password)
    func run(_ words: String...) -> Captured { Captured(words + ["--password-file", password]) }
    let listed = run("stores", path, "--json")
    #expect(listed.status == .done, "\(listed.err)")
    #expect(listed.out.contains("\"type\":\"XML\"") && listed.out.contains("\"type\":\"Binary\""))
    #expect(!listed.out.contains("other.xml") && !listed.out.contains("xcmapping"))
    #expect(run("stores", path).flat.contains("2 stores in"))
    for (name, plain) in zip(AtomicLuggage.names, [luggage.place.xml, luggage.place.binary]) {
      let inner = path + "//" + prefix + name
      let dump = run("dump", inner)
      #expect(dump.status == .done, "\(dump.err)")
      #expect(dump.out == Captured("dump", plain, "--model", luggage.place.model).out, "\(name)")
      let info = run("info", inner)
      #expect(info.flat.contains("from a file, ✓") || info.flat.contains("not in the store, ✓"))
      #expect(info.out.contains(inner), "\(info.out)")
      let output = luggage.place.folder.path("\(form)-\(FileSystem.name(of: name)).sqlite")
      #expect(run("convert", inner, "--output", output).status == .done)
      let migrated = run(
        "migrate", inner, "--to", luggage.place.model, "--output", output + "2.sqlite")
      #expect(migrated.status == .done, "\(migrated.err)")
      #expect(run("edit", inner, "Album/p1", "title=x").status == .refused)
      #expect(run("undelete", inner).err.contains("strata convert"))
      let doctor = run("doctor", inner)
      #expect(doctor.status == .done, "\(doctor.out)")
    }
    // Of two stores one has to be named.
    #expect(run("info", path).status == .usage)
    #expect(try Tree(path) == before)
  }

  @Test("the only store of a .gz is opened without being named")
  func packed() throws {
    let luggage = try AtomicLuggage()
    let path = luggage.place.folder.path("Notes.xml.gz")
    try FileSystem.write(
      TarWriter.gzip(try FileSystem.read(luggage.place.xml)), to: path)
    let dump = Captured("dump", path, "--model", luggage.place.model)
    #expect(dump.status == .done, "\(dump.err)")
    #expect(dump.out == Captured("dump", luggage.place.xml, "--model", luggage.place.model).out)
  }
}
