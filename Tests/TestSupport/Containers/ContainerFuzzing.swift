import Containers
import Files
import ManagedModel
import ManagedStore

/// Damaged archives of each kind that strata unpacks itself: none may trap, hang, or write elsewhere.
public enum ContainerFuzzing {
  /// - Parameter folder: where the archives are written.
  public static func target(in folder: TemporaryFolder) throws -> Fuzzing.Target {
    try FileSystem.makeDirectory(folder.path("fuzzed"))
    return Fuzzing.Target("containers", corpus: try corpus()) { bytes in
      // The target keeps the folder.
      let scratch = folder.path("fuzzed")
      let path = scratch + "/App.sqlite.gz"
      FileSystem.remove(path)
      try FileSystem.write(bytes, to: path)
      defer {
        guard (try? FileSystem.list(scratch)) == ["App.sqlite.gz"] else {
          preconditionFailure("something was written beside the archive")
        }
      }
      let container = try Container(path)
      for store in try container.stores() {
        let copy = try StoreCopy(of: store.name, in: container)
        // Bytes: to Swift, a slash and a letter's accent behind it are one character.
        let root = FileSystem.canonical(copy.root) + "/"
        guard FileSystem.canonical(copy.path).utf8.starts(with: root.utf8) else {
          preconditionFailure("a name leads elsewhere: \(store.name)")
        }
      }
    }
  }

  private static func corpus() throws -> [[UInt8]] {
    let store = Array("SQLite format 3\0".utf8) + [UInt8](repeating: 3, count: 300)
    let log: [UInt8] = [0x37, 0x7F, 6, 0x82] + [UInt8](repeating: 1, count: 60)
    let names = ["a/App.sqlite", "/b/App.sqlite-wal", "./b/notes.txt", "é/App.sqlite"]
    func content(_ name: String) -> [UInt8] { name.hasSuffix("-wal") ? log : store }
    var archives: [[UInt8]] = []
    let forms: [ZipWriter.Sizes] = [
      .plain, .wide, .descriptor(isMarked: true), .descriptor(isMarked: false),
    ]
    for form in forms {
      var zip = ZipWriter()
      for name in names { try zip.add(name, content(name), sizes: form) }
      archives.append(zip.bytes)
      archives.append(zip.members)
    }
    var outer = ZipWriter()
    try outer.add("inner.zip", archives[0], isPacked: false)
    try outer.add("cut.zip", Array(archives[4].prefix(500)))
    archives.append(outer.bytes)
    var backup = ZipWriter()
    try backup.add("Manifest.db", store)
    try backup.add("ab/ab" + String(repeating: "0", count: 38), store)
    archives.append(backup.bytes)
    var tar = TarWriter()
    for name in names { tar.add(name, content(name)) }
    tar.add("link", type: "2", link: "/etc/passwd")
    tar.add("a/" + String(repeating: "long/", count: 30) + "App.sqlite", [1, 2, 3])
    archives += [tar.bytes, try tar.packed]
    // Of bytes that hardly shrink, and of two parts behind one another, as gzip joins them.
    var generator = SeededGenerator(seed: 3)
    let noise = store + (0..<600).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    archives += try [store, noise].map(TarWriter.gzip)
    archives += [try gzipOfAllFields(noise), try TarWriter.gzip(store) + TarWriter.gzip(noise)]
    return archives
  }

  /// A packed file with every field that the header of gzip may have.
  private static func gzipOfAllFields(_ content: [UInt8]) throws -> [UInt8] {
    let plain = try TarWriter.gzip(content)
    var head = Array(plain.prefix(10))
    head[3] = 0x1F
    head += [6, 0] + Array("AB".utf8) + [2, 0, 1, 2]
    head += Array("../../App.sqlite\0a comment\0".utf8)
    let sum = ZipWriter.checksum(head)
    head += [UInt8(sum & 0xFF), UInt8(sum >> 8 & 0xFF)]
    return head + plain.dropFirst(10)
  }
}
