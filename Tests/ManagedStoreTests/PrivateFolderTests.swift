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
    #expect(!FileSystem.isDirectory(new), "of a program that was killed before it locked it")
  }

  #if os(Linux)
    @Test(
      "what may be large is not kept in memory",
      .enabled(if: FileSystem.isDirectory("/dev/shm") && !FileSystem.isInMemory("/var/tmp")))
    func memory() throws {
      #expect(!FileSystem.isInMemory("/proc"))
      #expect(PrivateFolder.base(for: .any, usual: "/dev/shm") == "/dev/shm")
      #expect(PrivateFolder.base(for: .disk, usual: "/nowhere") == "/nowhere")
      #expect(FileSystem.isInMemory("/dev/shm"))
      #expect(PrivateFolder.base(for: .disk, usual: "/dev/shm") == "/var/tmp")
    }
  #endif

  @Test func aFolderIsThereThoughOthersRemoveWhatIsNotLocked() async throws {
    // Between its making and its lock another program may take it for one that was left behind.
    try await withThrowingTaskGroup { group in
      for _ in 0..<4 {
        group.addTask {
          for _ in 0..<50 {
            let folder = try PrivateFolder()
            try FileSystem.write([1], to: folder.path + "/copy")
          }
        }
      }
      try await group.waitForAll()
    }
  }
}
