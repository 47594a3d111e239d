#if Models
    import NIOCore
    import NIOHTTP1
    import NIOPosix
#endif
