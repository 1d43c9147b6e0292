#ifndef CShims_h
#define CShims_h
#endif
