#if Models
    import RecollectModels
    import Testing
#endif
