#if Models
    import AsyncHTTPClient
    import RecollectAgents
#endif
