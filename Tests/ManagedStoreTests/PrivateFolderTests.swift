import Files
import TestSupport
import Testing

@testable import ManagedStore

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

@Suite("Private copies in the temporary folder", .serialized)
struct PrivateFolderTests {
  @Test("go when they are let go, and those of a killed program go with the next look")
  func abandoned() throws {
    let path: String
    do {
      let folder = try PrivateFolder()
      path = folder.path
      try FileSystem.write([1], to: path + "/copy")
      PrivateFolder.removeAbandoned()
      #expect(FileSystem.isDirectory(path), "it is in use")
      withExtendedLifetime(folder) {}
    }
    #expect(!FileSystem.isDirectory(path))

    // Locked before it gets this name: what has it and no lock is nobody's.
    let left = try FileSystem.makeTemporaryDirectory(prefix: "strata-copy")
    try FileSystem.write([1], to: left + "/copy")
    PrivateFolder.removeAbandoned()
    #expect(!FileSystem.isDirectory(left))

    let new = try FileSystem.makeTemporaryDirectory(prefix: "strata-new")
    PrivateFolder.removeAbandoned()
    #expect(FileSystem.isDirectory(new), "it may just be being made")
    age(new)
    PrivateFolder.removeAbandoned()
    #expect(!FileSystem.isDirectory(new))
  }

  private func age(_ path: String) {
    let past = timeval(tv_sec: time(nil) - 3600, tv_usec: 0)
    utimes(path, [past, past])
  }
}
